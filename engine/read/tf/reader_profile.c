/* reader_profile: ProfileProto, the profile_<step> files of TensorFlow's ProfileContext. */
#include "read/read.h"
#include "read/tf/tf_classic.h"
#include "read/tf/tf_lanes.h"

static int score(struct str bytes, const char *path)
{
    (void)path;
    return tf_kind_of(bytes) == TF_PROFILE ? 80 : 0;
}

static bool read(struct read_input *inputs, size_t count, const struct read_options *options,
                 struct profile *profile, struct err *err)
{
    struct tf_model model;
    bool            is_read = true;

    profile->format = FORMAT_PROFILE;
    if (!tf_model_init(&model, profile, count ? inputs[0].host_name : NULL) ||
        (options->is_classic && !tf_classic_start(&model, options->has_classic_times)))
        is_read = tf_model_full(err);
    for (size_t i = 0; i < count && is_read; i++) {
        char text[ERR_TEXT_BYTES];

        if (tf_profile_read(&model, message_of(inputs[i].file.bytes), err))
            continue;
        err_source(err, inputs[i].path);
        is_read = !options->is_strict && err->code == ERR_FORMAT && profile->ops.count > 0;
        if (!is_read)
            break;
        profile_damage(profile, inputs[i].path, 1, "damaged, read as far as possible: %s",
                       err_format(err, text, sizeof text));
        *err = (struct err) { 0 };
    }
    is_read = is_read && (tf_told_settle(&model) || tf_model_full(err));
    if (is_read && !options->is_classic)
        is_read = tf_lanes_place(&model, 0) || tf_model_full(err);
    is_read = is_read && tf_model_finish(&model, options->threads, err);
    tf_model_free(&model);
    return is_read;
}

const struct reader reader_profile = {
    .name = "profile",
    .summary = "TensorFlow's ProfileContext (ProfileProto, profile_<step>)",
    .format = FORMAT_PROFILE,
    .score = score,
    .read = read,
};
