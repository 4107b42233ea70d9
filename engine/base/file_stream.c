/*
 * file_stream: a thread reads (and inflates) into one window while the caller works on the other.
 * Windows are handed over under one lock, a few hundred times a gigabyte.
 */
#include "base/file.h"
#include "base/gzip.h"
#include "base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW_BYTES = 4 << 20, INPUT_BYTES = 1 << 20, WINDOWS = 2 };

struct window {
    char  *data;
    size_t len;
    bool   is_full; /* filled and not yet given back by the caller */
    bool   is_last;
};

struct file_stream {
    int             descriptor;
    pthread_t       filler;
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    struct window   windows[WINDOWS];
    int             current; /* the caller's window */
    bool            is_started, is_closing, has_current, is_at_end;
    /* The filler's own until the last window is full. */
    struct gzip *gzip; /* NULL: plain bytes */
    char        *input;
    struct str   pending; /* read and not yet used */
    bool         is_input_over;
    char         damage[128];
};

/* Reads up to `room` bytes; 0 at the end and on an error, which is noted as damage. */
static size_t read_some(struct file_stream *stream, char *out, size_t room)
{
    ssize_t count;

    do
        count = read(stream->descriptor, out, room);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        snprintf(stream->damage, sizeof stream->damage, "cannot be read: %s", strerror(errno));
    if (count <= 0) {
        stream->is_input_over = true;
        return 0;
    }
    return (size_t)count;
}

/* Refills `pending`; false at the end of the input. */
static bool read_input(struct file_stream *stream)
{
    if (stream->pending.len)
        return true;
    if (stream->is_input_over)
        return false;
    stream->pending = (struct str) { stream->input, read_some(stream, stream->input, INPUT_BYTES) };
    return stream->pending.len > 0;
}

static void fill_plain(struct file_stream *stream, struct window *window)
{
    while (window->len < WINDOW_BYTES && read_input(stream)) {
        size_t room = WINDOW_BYTES - window->len;
        size_t count = stream->pending.len < room ? stream->pending.len : room;

        memcpy(window->data + window->len, stream->pending.data, count);
        window->len += count;
        stream->pending = str_slice(stream->pending, count, stream->pending.len);
    }
    window->is_last = stream->is_input_over && stream->pending.len == 0;
}

static void fill_inflated(struct file_stream *stream, struct window *window)
{
    const char *damage = NULL;

    while (window->len < WINDOW_BYTES && !damage) {
        bool has_input = read_input(stream);

        size_t room = WINDOW_BYTES - window->len;
        size_t count =
            gzip_inflate(stream->gzip, &stream->pending, window->data + window->len, room);

        window->len += count;
        /* Without input there may still be bytes inside the inflater, until it gives less. */
        window->is_last = !has_input && count < room;
        damage = gzip_damage(stream->gzip, window->is_last);
        if (window->is_last)
            break;
    }
    if (damage) {
        if (!*stream->damage)
            snprintf(stream->damage, sizeof stream->damage, "%s", damage);
        window->is_last = true;
    }
}

static void *fill_windows(void *argument)
{
    struct file_stream *stream = argument;
    bool                is_over = false;

    for (int i = 0; !is_over; i = (i + 1) % WINDOWS) {
        struct window *window = &stream->windows[i];

        pthread_mutex_lock(&stream->lock);
        while (window->is_full && !stream->is_closing)
            pthread_cond_wait(&stream->changed, &stream->lock);
        is_over = stream->is_closing;
        pthread_mutex_unlock(&stream->lock);
        if (is_over)
            break;
        window->len = 0;
        if (stream->gzip)
            fill_inflated(stream, window);
        else
            fill_plain(stream, window);
        is_over = window->is_last;
        pthread_mutex_lock(&stream->lock);
        window->is_full = true;
        pthread_cond_broadcast(&stream->changed);
        pthread_mutex_unlock(&stream->lock);
    }
    return NULL;
}

/* The first piece tells whether it is gzip; a pipe may deliver it byte by byte. */
static bool look_at_head(struct file_stream *stream)
{
    size_t len = 0;

    while (len < 3 && !stream->is_input_over)
        len += read_some(stream, stream->input + len, INPUT_BYTES - len);
    stream->pending = (struct str) { stream->input, len };
    if (!gzip_is_magic(stream->pending))
        return true;
    stream->gzip = gzip_new();
    return stream->gzip != NULL;
}

static bool prepare(struct file_stream *stream, struct err *err)
{
    stream->input = malloc(INPUT_BYTES);
    for (int i = 0; i < WINDOWS; i++)
        stream->windows[i].data = malloc(WINDOW_BYTES);
    if (!stream->input || !stream->windows[0].data || !stream->windows[1].data ||
        !look_at_head(stream))
        return err_set(err, ERR_LIMIT, "no memory to read it");
    if (*stream->damage)
        return err_set(err, ERR_INPUT, "%s", stream->damage);
    stream->is_started = pthread_create(&stream->filler, NULL, fill_windows, stream) == 0;
    return stream->is_started || err_set(err, ERR_LIMIT, "no thread to read it");
}

static int open_input(const char *path, struct err *err)
{
    struct stat status;
    int         descriptor =
        strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (descriptor < 0) {
        err_set(err, ERR_INPUT, "cannot be opened: %s", strerror(errno));
        return -1;
    }
    if (fstat(descriptor, &status) == 0)
        opened_add(path, &status);
    if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(descriptor);
        err_set(err, ERR_INPUT, "is a directory");
        return -1;
    }
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL); /* pipes refuse it, which is fine */
    return descriptor;
}

struct file_stream *file_stream_open(const char *path, struct err *err)
{
    struct file_stream *stream = calloc(1, sizeof *stream);

    if (!stream) {
        err_set(err, ERR_LIMIT, "no memory to read it");
        return NULL;
    }
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    stream->descriptor = open_input(path, err);
    if (stream->descriptor >= 0 && prepare(stream, err))
        return stream;
    file_stream_close(stream);
    err_source(err, strcmp(path, "-") == 0 ? "standard input" : path);
    return NULL;
}

/* Hands the caller's window back and waits for the other one. */
static const struct window *next_window(struct file_stream *stream)
{
    struct window *window;

    pthread_mutex_lock(&stream->lock);
    if (stream->has_current) {
        stream->windows[stream->current].is_full = false;
        stream->current = (stream->current + 1) % WINDOWS;
        pthread_cond_broadcast(&stream->changed);
    }
    stream->has_current = true;
    window = &stream->windows[stream->current];
    while (!window->is_full)
        pthread_cond_wait(&stream->changed, &stream->lock);
    pthread_mutex_unlock(&stream->lock);
    return window;
}

struct str file_stream_next(struct file_stream *stream)
{
    const struct window *window;

    if (stream->is_at_end)
        return (struct str) { "", 0 };
    window = next_window(stream);
    stream->is_at_end = window->is_last;
    return (struct str) { window->data, window->len };
}

bool file_stream_damage(const struct file_stream *stream, char *text, size_t bytes)
{
    /* Written by the filler before it hands over its last window, read after. */
    if (!stream->is_at_end || !*stream->damage)
        return false;
    snprintf(text, bytes, "%s", stream->damage);
    return true;
}

void file_stream_close(struct file_stream *stream)
{
    if (!stream)
        return;
    if (stream->is_started) {
        pthread_mutex_lock(&stream->lock);
        stream->is_closing = true;
        pthread_cond_broadcast(&stream->changed);
        pthread_mutex_unlock(&stream->lock);
        pthread_join(stream->filler, NULL);
    }
    if (stream->descriptor >= 0)
        close(stream->descriptor);
    gzip_free(stream->gzip);
    free(stream->input);
    for (int i = 0; i < WINDOWS; i++)
        free(stream->windows[i].data);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}
