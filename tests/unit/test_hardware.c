/* Accelerators by name, by figures and by the rates of their architecture; blocks that they hold.
 */
#include "analyze/kernel/kernel_waves.h"
#include "base/file.h"
#include "model/hardware_file.h"
#include "profile_builder.h"
#include "read/read.h"
#include "testing.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct reader reader_kineto;

/* Names as recorders write them; TFLOP/s and GB/s from the makers' data sheets. */
TEST(names_find_the_right_row)
{
    static const struct {
        const char *name;
        double      f16, memory;
    } rows[] = {
        { "Tesla V100-PCIE-32GB", 112, 900 },
        { "NVIDIA GeForce RTX 3080 Ti", 68.2, 912 },
        { "NVIDIA GeForce RTX 4080 SUPER", 104.4, 736 },
        { "NVIDIA A10", 125, 600 },
        { "NVIDIA A10G", 70, 600 },
        { "NVIDIA A100-SXM4-40GB", 312, 1555 },
        { "NVIDIA A100-PG509-200", 312, 1555 },
        { "NVIDIA A100-SXM4-80GB", 312, 2039 },
        { "NVIDIA A100 80GB PCIe", 312, 1935 },
        { "NVIDIA A800-SXM4-80GB", 312, 2039 },
        { "NVIDIA A30", 165, 933 },
        { "NVIDIA A40", 149.7, 696 },
        { "NVIDIA RTX A6000", 154.8, 768 },
        { "Tesla V100-PCIE-16GB", 112, 900 },
        { "Tesla V100-DGXS-32GB", 125, 900 },
        { "Tesla T4", 65, 320 },
        { "NVIDIA L4", 121, 300 },
        { "NVIDIA L20", 119.5, 864 },
        { "NVIDIA L40", 181, 864 },
        { "NVIDIA L40S", 362, 864 },
        { "NVIDIA GeForce RTX 2080 Ti", 53.8, 616 },
        { "NVIDIA GeForce RTX 3090", 71, 936 },
        { "NVIDIA GeForce RTX 2080", 40.3, 448 },
        { "Quadro RTX 6000", 130.5, 672 },
        { "NVIDIA GeForce RTX 3060 Ti", 32.4, 448 },
        { "NVIDIA GeForce RTX 4060", 30.2, 272 },
        { "NVIDIA GeForce RTX 4060 Laptop GPU", 29.1, 256 },
        { "NVIDIA GeForce RTX 4070 Ti SUPER", 88.2, 672 },
        { "NVIDIA GeForce RTX 5080", 112.6, 960 },
        { "NVIDIA RTX 500 Ada Generation Laptop GPU", 38.5, 128 },
        { "NVIDIA RTX 5000 Ada Generation", 261.1, 576 },
        { "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 503.8, 1792 },
        { "NVIDIA RTX A4500", 94.6, 640 },
        { "NVIDIA A2", 18, 200 },
        { "NVIDIA GeForce RTX 4080 Laptop GPU", 67.7, 432 },
        { "NVIDIA GeForce RTX 4090", 165, 1008 },
        { "NVIDIA GeForce RTX 5090", 209.5, 1792 },
        { "NVIDIA RTX 6000 Ada Generation", 364, 960 },
        { "Quadro GP100", 20.7, 717 },
        { "NVIDIA GeForce RTX 4090 D", 147.1, 1008 },
        { "NVIDIA TITAN V", 119, 653 },
        { "NVIDIA GeForce GTX 1080 Ti", 0, 484 }, /* what has no matrix units tells none */
        { "Tesla P40", 0, 346 },
        { "Tesla K80", 0, 240 },
        { "NVIDIA GeForce RTX 3070 Laptop GPU", 31.9, 448 },
        { "NVIDIA GeForce RTX 2060 SUPER", 28.7, 448 },
        { "NVIDIA GB10", 125.3, 273 },
        { "NVIDIA GB300", 2500, 8000 },
        { "AMD Instinct MI308X", 344.1, 5300 },
        { "AMD Radeon RX 7900 XTX", 122.8, 960 },
        { "NVIDIA H100 80GB HBM3", 989, 3350 },
        { "NVIDIA H100 PCIe", 756, 2000 },
        { "NVIDIA H100 NVL", 835, 3900 },
        { "NVIDIA H800", 989, 3350 },
        { "NVIDIA H200", 989, 4800 },
        { "NVIDIA H20", 148, 4000 },
        { "NVIDIA GH200 480GB", 989, 4000 },
        { "NVIDIA B200", 2250, 8000 },
        { "NVIDIA GB200", 2500, 8000 },
        { "AMD Instinct MI210", 181, 1638 },
        { "AMD Instinct MI250X / MI250", 181, 1638 },
        { "AMD Instinct MI250X", 191.5, 1638 },
        { "AMD Instinct MI300X", 1307.4, 5300 },
        { "AMD Instinct MI325X", 1307.4, 6000 },
        { "AMD Instinct MI355X", 2516.6, 8000 },
        { "TPU v6 Lite", 918, 1640 },
        { "TPU v5 lite", 197, 819 },
        { "TPU v5", 459, 2765 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct hardware *found = hardware_find(str_from(rows[i].name));

        if (!found || fabs(found->f16_flops_per_s - rows[i].f16 * 1e12) > 1e6 ||
            fabs(found->memory_bytes_per_s - rows[i].memory * 1e9) > 1e3)
            fail_msg("%s: %s", rows[i].name, found ? found->words : "not known");
        assert_true(found->source && found->source[0]);
    }
    assert_null(hardware_find(STR("NVIDIA GeForce RTX 3090 Laptop GPU")));
    assert_null(hardware_find(STR("Quadro RTX 7000")));
    assert_null(hardware_find(STR("NVIDIA GeForce RTX 3080 Ti Laptop GPU")));
    assert_null(hardware_find(STR("NVIDIA GeForce RTX 5090 D")));
    assert_null(hardware_find(STR("NVIDIA A100-SXM4-40GB MIG 1g.5gb")));
    assert_null(hardware_find(STR("Intel(R) Xeon(R)")));
    assert_null(hardware_find(STR("")));
}

/* Before Ampere no matrix unit takes bfloat16; the MI100's takes half as many as of float16. */
TEST(bfloat16_is_not_float16)
{
    static const struct {
        const char *name;
        double      bf16;
    } rows[] = {
        { "Tesla V100-SXM2-16GB", 0 },
        { "Tesla T4", 0 },
        { "NVIDIA GeForce RTX 2080 Ti", 0 },
        { "AMD Instinct MI100", 92.3 },
        { "NVIDIA A100-SXM4-40GB", 312 },
        { "AMD Instinct MI210", 181 },
        { "TPU v5 lite", 197 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(
            fabs(hardware_peak_flops_per_s(hardware_find(str_from(rows[i].name)), DTYPE_BF16) -
                 rows[i].bf16 * 1e12) < 1e6);
}

/* TFLOP/s and TOP/s from the makers' data sheets, dense; GB/s a direction: half of what NVLink,
 * Infinity Fabric and ICI are sold by. RTX 4090: a 64th of its 82.6 in f32, four times its 165 in
 * f16 with sums in f32. */
TEST(rows_tell_other_types_and_links)
{
    static const struct {
        const char *name;
        double      f64, f4, i8, sparse, link;
    } rows[] = {
        { "Tesla V100-SXM2-16GB", 7.8, 0, 0, 0, 300 / 2 },
        { "NVIDIA A100-SXM4-40GB", 19.5, 0, 624, 2, 600 / 2 },
        { "NVIDIA H100 80GB HBM3", 67, 0, 1979, 2, 900 / 2 },
        { "NVIDIA H800", 1, 0, 1979, 2, 400 / 2 },
        { "NVIDIA B200", 37, 9000, 4500, 2, 1800 / 2 },
        { "NVIDIA GeForce RTX 4090", 1.29, 0, 660, 2, 31.5 },
        { "NVIDIA GeForce RTX 5090", 1.64, 1676, 838, 2, 63 },
        { "AMD Instinct MI300X", 163.4, 0, 2614.9, 2, 7 * 128 / 2 },
        { "AMD Instinct MI355X", 78.6, 10066.3, 5033.2, 2, 7 * 153.6 / 2 },
        { "TPU v5 lite", 0, 0, 393, 0, 400 / 2 },
        { "TPU v6 Lite", 0, 0, 1836, 0, 800 / 2 },
        { "trn2.48xlarge", 0, 0, 0, 0, 1280 / 2 },
        { "AWS Trainium1", 0, 0, -1, 0, 0 },
        { "Trainium", 0, 0, 380, 0, 0 },
        { "Trainium 2", 0, 0, 0, 0, 1280 / 2 },
        { "Intel Gaudi 3", 0, 0, 0, 0, 1200 / 2 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct hardware *found = hardware_find(str_from(rows[i].name));

        if (rows[i].i8 < 0) { /* no such name */
            assert_null(found);
            continue;
        }
        if (!found ||
            fabs(hardware_peak_flops_per_s(found, DTYPE_F64) - rows[i].f64 * 1e12) > 1e6 ||
            fabs(hardware_peak_flops_per_s(found, DTYPE_F4) - rows[i].f4 * 1e12) > 1e6 ||
            fabs(hardware_peak_flops_per_s(found, DTYPE_I8) - rows[i].i8 * 1e12) > 1e6 ||
            fabs(found->sparse - rows[i].sparse) > 0 ||
            fabs(found->link_bytes_per_s - rows[i].link * 1e9) > 1e3)
            fail_msg("%s", rows[i].name);
    }
}

static struct device device_of(uint32_t major, uint32_t minor, uint32_t units, double gigabytes)
{
    return (struct device) { .kind = DEVICE_GPU,
                             .compute_major = major,
                             .compute_minor = minor,
                             .sm_count = units,
                             .memory_bytes = (int64_t)(gigabytes * 1e9) };
}

/* As planes and deviceProperties of recordings tell them without a name, or with one of a driver.
 */
TEST(figures_name_the_nameless)
{
    static const struct {
        uint32_t    major, minor, units;
        double      gigabytes;
        const char *recorded, *name;
    } rows[] = {
        { 9, 4, 304, 206.141652992, "", "AMD Instinct MI300X, by its figures" },
        { 9, 5, 256, 309.2, "", "AMD Instinct MI355X, by its figures" },
        { 7, 0, 80, 16.945512448, "", "NVIDIA V100 16GB, by its figures" },
        { 9, 0, 104, 68.702699520, "AMD Radeon Graphics",
          "AMD Radeon Graphics (AMD Instinct MI210 or a die of an MI250, by its figures)" },
        { 7, 5, 48, 16.908615680, "", "NVIDIA Quadro RTX 5000, by its figures" },
        { 7, 5, 48, 8.369, "", "NVIDIA GeForce RTX 2080 Super, by its figures" },
        { 6, 1, 28, 11.721375744, "", "NVIDIA GeForce GTX 1080 Ti, by its figures" },
        { 9, 4, 304, 206.141652992, "AMD Instinct MI300X", "AMD Instinct MI300X" },
        { 9, 4, 303, 206.141652992, "", "" },
        { 0, 0, 0, 0, "", "" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct profile_builder b;
        struct device         *device;
        uint32_t               row;

        builder_start(&b, FORMAT_XSPACE);
        row = builder_device(&b, builder_host(&b, "h"), "GPU 0", rows[i].recorded, DEVICE_GPU);
        device = &b.profile.devices.items[row];
        device->compute_major = rows[i].major;
        device->compute_minor = rows[i].minor;
        device->sm_count = rows[i].units;
        device->memory_bytes = (int64_t)(rows[i].gigabytes * 1e9);
        device->memory_bytes_per_s = 2662.4e9; /* by its clock, which is half of what it does */
        assert_true(hardware_settle(&b.profile, NULL, NULL));
        assert_string_equal(profile_str(&b.profile, device->model).data, rows[i].name);
        if (strstr(rows[i].name, "MI300X"))
            assert_true(device->memory_bytes_per_s == 5300e9);
        builder_free(&b);
    }
}

/* What the user says is taken for devices that the recording or the table does not know. */
TEST(models_are_said)
{
    static const struct {
        const char *recorded, *name;
    } rows[] = {
        { "", "A100 80GB, as was said" },
        { "SYNTHETIC", "A100 80GB, as was said" },
        { "NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct profile_builder b;
        uint32_t               row;

        builder_start(&b, FORMAT_KINETO);
        row = builder_device(&b, builder_host(&b, "h"), "GPU 0", rows[i].recorded, DEVICE_GPU);
        assert_true(hardware_settle(&b.profile, hardware_find(STR("A100 80GB")), "A100 80GB"));
        assert_string_equal(profile_str(&b.profile, b.profile.devices.items[row].model).data,
                            rows[i].name);
        assert_true(b.profile.devices.items[row].memory_bytes_per_s == (i < 2 ? 2039e9 : 3350e9));
        builder_free(&b);
    }
}

static const char figures[] =
    "name = \"Abacus 2\"\nbf16-tflops = 100\nint8-tops = 2e2\n"
    "memory-gb-per-s = 500\nlink-gb-per-s = 25.5\nsource = \"its label\"\n";

static void write_file(const char *path, const char *text)
{
    struct err err = { 0 };

    if (!file_write(path, str_from(text), &err))
        fail_msg("%s", err.text);
}

/* 100 TFLOP/s are 1e14 operations a second, 500 GB/s 5e11 bytes. */
TEST(files_tell_of_other_hardware)
{
    struct arena           arena = { 0 };
    struct err             err = { 0 };
    const struct hardware *said;
    struct profile_builder b;
    uint32_t               row, other;
    struct hardware        made;

    write_file("abacus.toml", figures);
    said = hardware_named("abacus.toml", &arena, &err);
    assert_non_null(said);
    assert_string_equal(said->words, "Abacus 2");
    assert_string_equal(said->source, "its label");
    assert_true(hardware_peak_flops_per_s(said, DTYPE_BF16) == 1e14);
    assert_true(hardware_peak_flops_per_s(said, DTYPE_I8) == 2e14);
    assert_true(hardware_peak_flops_per_s(said, DTYPE_F16) == 0);
    assert_true(said->link_bytes_per_s == 25.5e9);

    builder_start(&b, FORMAT_KINETO);
    row = builder_device(&b, builder_host(&b, "h"), "GPU 0", "", DEVICE_GPU);
    other = builder_device(&b, 0, "GPU 1", "NVIDIA H100 80GB HBM3", DEVICE_GPU);
    assert_true(hardware_settle(&b.profile, said, said->words));
    assert_ptr_equal(hardware_of(&b.profile, &b.profile.devices.items[row], &made), said);
    assert_true(b.profile.devices.items[row].memory_bytes_per_s == 5e11);
    assert_true(hardware_half_type(&b.profile, &b.profile.devices.items[row]) == DTYPE_BF16);
    assert_true(b.profile.devices.items[other].memory_bytes_per_s == 3350e9);
    builder_free(&b);
    arena_free(&arena);
}

/* Pascal's P100 takes float16 at twice its rate in 32 bits, its GeForce at a 64th. */
TEST(slow_float16_is_none)
{
    static const struct {
        const char *name;
        uint32_t    major, minor;
        enum dtype  half;
    } rows[] = {
        { "Tesla P100-SXM2-16GB", 6, 0, DTYPE_F16 },
        { "NVIDIA GeForce GTX 1080 Ti", 6, 1, DTYPE_UNKNOWN },
        { "NVIDIA GeForce GTX 1080 Ti", 0, 0, DTYPE_UNKNOWN }, /* by its name alone */
        { "Tesla K80", 3, 7, DTYPE_UNKNOWN },
        { "Tesla V100-SXM2-16GB", 7, 0, DTYPE_F16 },
        { "NVIDIA GB10", 12, 1, DTYPE_BF16 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct profile_builder b;
        uint32_t               row;

        builder_start(&b, FORMAT_KINETO);
        row = builder_device(&b, builder_host(&b, "h"), "GPU 0", rows[i].name, DEVICE_GPU);
        b.profile.devices.items[row].compute_major = rows[i].major;
        b.profile.devices.items[row].compute_minor = rows[i].minor;
        assert_true(hardware_half_type(&b.profile, &b.profile.devices.items[row]) == rows[i].half);
        builder_free(&b);
    }
}

TEST(wrong_files_are_told_by_line)
{
    static const struct {
        const char *text, *message;
        uint32_t    line;
    } rows[] = {
        { "name = \"A\"\nbf16-tflop = 1\n", "an accelerator has no 'bf16-tflop'", 2 },
        { "name = \"A\"\n\nbf16-tflops = -1\n", "bf16-tflops takes a number above 0, at most 1e9",
          3 },
        { "name = \"A\"\nbf16-tflops = \"1\"\n", "bf16-tflops takes a number above 0, at most 1e9",
          2 },
        { "name = 3\n", "name takes a string", 1 },
        { "[gpu]\nname = \"A\"\n", "an accelerator has no tables, as [gpu]", 2 },
        { "bf16-tflops = 1\nmemory-gb-per-s = 1\n", "an accelerator needs a name = \"...\"", 0 },
        { "name = \"A\"\nbf16-tflops = 1\n", "an accelerator needs its memory-gb-per-s", 0 },
        { "name = \"A\"\nmemory-gb-per-s = 1\nlink-gb-per-s = 1\n",
          "an accelerator needs a peak, as bf16-tflops", 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct err   err = { 0 };
        char         path[32]; /* what was read is not written again */

        snprintf(path, sizeof path, "wrong-%zu.toml", i);
        write_file(path, rows[i].text);
        assert_null(hardware_named(path, &arena, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_string_equal(err.text, rows[i].message);
        assert_int_equal(err.line, rows[i].line);
        arena_free(&arena);
    }
}

TEST(neither_name_nor_file)
{
    struct arena arena = { 0 };
    struct err   err = { 0 };

    assert_null(hardware_named("abacus", &arena, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.text,
                        "'abacus' is neither an accelerator whose figures are known nor a file");
    arena_free(&arena);
}

/* Nothing is told of the device, but libraries name kernels for the instruction set; one of which
 * more is told is not guessed. */
TEST(kernels_tell_what_they_are_made_for)
{
    static const struct {
        const char *kernel, *name;
        uint32_t    units;
    } rows[] = {
        { "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_GLVWA2_ISA942_IU1",
          "AMD Instinct MI300X, assumed from names of kernels", 0 },
        { "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_GLVWA2_ISA942_IU1", "", 80 },
        { "ampere_sgemm_128x64_tn", "", 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct profile_builder b;
        uint32_t               row;

        builder_start(&b, FORMAT_KINETO);
        row = builder_device(&b, builder_host(&b, "h"), "GPU 0", "", DEVICE_GPU);
        b.profile.devices.items[row].sm_count = rows[i].units;
        builder_activity(&b, rows[i].kernel, ACTIVITY_KERNEL, NO_ID);
        assert_true(hardware_settle(&b.profile, NULL, NULL));
        assert_string_equal(profile_str(&b.profile, b.profile.devices.items[row].model).data,
                            rows[i].name);
        builder_free(&b);
    }
}

/* 80 multiprocessors at 1.53 GHz do 1024 operations a cycle each: 125.3 TFLOP/s; 304 units of AMD
 * at 2.1 GHz 2048: 1307.4; 28 of compute capability 6.1 at 1.582 GHz 256 in 32 bits, not 128 as
 * of 6.0: 11.34. Without a clock, or of an unknown architecture: nothing. */
TEST(rates_give_the_rest)
{
    struct profile_builder b;
    struct hardware        made;
    struct device          volta = device_of(7, 0, 80, 20), cdna = device_of(9, 4, 304, 100),
                  pascal = device_of(6, 1, 28, 20);

    builder_start(&b, FORMAT_XSPACE);
    assert_null(hardware_of(&b.profile, &volta, &made));
    volta.clock_hz = 1.53e9;
    assert_ptr_equal(hardware_of(&b.profile, &volta, &made), &made);
    assert_true(fabs(made.f16_flops_per_s - 125.3376e12) < 1e6);
    assert_true(fabs(made.f32_flops_per_s - 15.6672e12) < 1e6);
    cdna.clock_hz = 2.1e9;
    cdna.is_amd = true;
    assert_ptr_equal(hardware_of(&b.profile, &cdna, &made), &made);
    assert_true(fabs(made.f16_flops_per_s - 1307.4432e12) < 1e6);
    pascal.clock_hz = 1.582e9;
    assert_ptr_equal(hardware_of(&b.profile, &pascal, &made), &made);
    assert_true(fabs(made.f32_flops_per_s - 11.339776e12) < 1e6);
    assert_true(fabs(made.f64_flops_per_s - 0.354368e12) < 1e6);
    volta.compute_major = 3;
    assert_null(hardware_of(&b.profile, &volta, &made));
    builder_free(&b);
}

static struct kernel_config config_of(uint32_t threads, uint32_t registers, uint32_t shared_bytes)
{
    return (struct kernel_config) { .grid = { 1, 1, 1 },
                                    .block = { threads, 1, 1 },
                                    .registers = registers,
                                    .static_shared_bytes = shared_bytes,
                                    .occupancy_pct = 22 };
}

/* V100, 64 threads, 126 registers: 126 * 32 = 4032 registers a warp, in units of 256 4096; 16 warps
 * fit, 8 blocks of two. 8 KiB of shared memory: 12 of 96 KiB. So 8 on each of 80.
 * 256 threads and 32 registers: 64 warps' registers fit, 2048 threads are 8 blocks, 1536 (8.6) 6,
 * 1024 (7.5) 4. H100, 100 KiB: 2 of 228 KiB, as each keeps 1 KiB for itself. */
TEST(blocks_fit_by_what_they_need)
{
    static const struct {
        uint32_t major, minor, units, threads, registers, shared_bytes;
        double   blocks;
    } rows[] = {
        { 7, 0, 80, 64, 126, 8192, 640 }, { 8, 0, 108, 256, 32, 0, 864 },
        { 8, 6, 84, 256, 32, 0, 504 },    { 8, 9, 128, 256, 32, 0, 768 },
        { 7, 5, 40, 256, 32, 0, 160 },    { 9, 0, 132, 128, 32, 102400, 264 },
        { 7, 0, 80, 64, 0, 8192, 0 },     { 9, 4, 304, 64, 126, 8192, 0 },
        { 7, 0, 0, 64, 126, 8192, 0 },    { 7, 0, 80, 1024, 255, 0, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct device        device = device_of(rows[i].major, rows[i].minor, rows[i].units, 16);
        struct kernel_config config =
            config_of(rows[i].threads, rows[i].registers, rows[i].shared_bytes);

        assert_true(kernel_resident_blocks(&device, &config) == rows[i].blocks);
    }
}

/* A process that sees one device of many lists it as 0; its kernels say 3, as the machine does. */
static const char trace[] =
    "{\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": "
    "85094825984, \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132}%s],"
    " \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 3, \"tid\": "
    "7, \"ts\": 9, \"dur\": 30, \"args\": {\"device\": 3, \"stream\": 7, \"correlation\": 1}}]}";

static void check_model(const char *other_devices, const char *model)
{
    struct read_options options = { .threads = 1 };
    struct arena        arena = { 0 };
    struct profile      profile;
    struct err          err = { 0 };
    char                text[1024];
    int                 len = snprintf(text, sizeof text, trace, other_devices);
    struct read_input   input = { .path = "rank0.json", .file.bytes = { text, (size_t)len } };

    assert_true(profile_init(&profile, &arena));
    assert_true(reader_kineto.read(&input, 1, &options, &profile, &err));
    assert_int_equal(profile.devices.count, 1);
    assert_int_equal(profile.devices.items[0].ordinal, 3);
    assert_string_equal(profile_str(&profile, profile.devices.items[0].model).data, model);
    assert_int_equal(profile.devices.items[0].sm_count, *model ? 132 : 0);
    arena_free(&arena);
}

TEST(other_numbers_are_the_same_devices)
{
    check_model("", "NVIDIA H100 80GB HBM3");
    check_model(", {\"id\": 1, \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": "
                "85094825984, \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132}",
                "NVIDIA H100 80GB HBM3");
    check_model(", {\"id\": 1, \"name\": \"NVIDIA A100\", \"numSms\": 108}", "");
}
