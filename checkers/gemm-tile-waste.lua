-- The tiles of a product's kernel reach over the edges of its result.
-- Sizes of a tile by the name of its kernel: cuBLAS, CUTLASS, nvjet, Tensile.
local tile_names = { "tilesize(\\d+)x(\\d+)x\\d+", "^nvjet_[a-z0-9]+_(\\d+)x(\\d+)_", "_MT(\\d+)x(\\d+)x\\d+",
                     "gemm(?:_[a-z0-9]+)*?_(\\d+)x(\\d+)[x_]" }

local function tile_of(kernel)
  for _, pattern in ipairs(tile_names) do
    local m, n = kernel:match(pattern)
    if m then return tonumber(m), tonumber(n) end
  end
  return nil
end

-- Products of one call, and rows and columns of the result of each.
local function result_of(op, shapes)
  local operands = {}
  for shape in (shapes:match("^(.*?)(?:->|$)") or ""):gmatch("\\[([0-9,]*)\\]") do
    local dims = {}
    for d in shape:gmatch("\\d+") do dims[#dims + 1] = tonumber(d) end
    operands[#operands + 1] = dims
  end
  local first = op:find("addbmm|addmm$") and 2 or 1
  local a, b = operands[first], operands[first + 1]
  if not a or not b or #a ~= #b or #a < 2 or #a > 3 then return nil end
  if #a == 2 then return 1, a[1], b[2] end
  return a[1], a[2], b[3]
end

local function tiles_over(rows, columns, tile_rows, tile_columns)
  return math.ceil(rows / tile_rows) * math.ceil(columns / tile_columns)
end

return rule {
  id = "gemm-tile-waste", api = 1, version = "1.0.0",
  title = "Tiles of a product reach over its edges",
  category = "kernels", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "kernels", "roofline", "flops.peak_per_s", "flops.memory_peak_per_s" },
  cause = "compute.gemm", tags = { "kernels" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "the kernel's time over the step" },
    min_waste = { default = 0.1, min = 0, max = 1, unit = "share",
                  doc = "of the area of all tiles, what lies outside the result" },
  },
  doc = [[
Kernels of products compute their result in tiles of a size that is in the name of the kernel, and do all of a tile
where the result needs a part. Priced up to the part of the tiles outside the result, taken for the way round in which
they fit better, since names do not say which side is which. Silent where memory is the limit, where there are fewer
tiles than multiprocessors (the last ones are then done beside the others), where the grid of the kernel does not
fit the shapes, and for kernels whose name has no tile.]],

  check = function(p, cfg)
    return p:in_kernels {
      min_share = cfg.min_share, where = { category = "gemm", op = { like = p:names("aten_matrix_product") } },
      looked_at = 20, most = 3,
      find = function(row)
        local tile_m, tile_n = tile_of(row.name)
        local count, rows, columns
        if tile_m then count, rows, columns = result_of(row.op, row.shapes or "") end
        local is_bound = rows
          and p:table("roofline"):where { type = row.op, bound = "compute", shapes = row.shapes }:count() > 0
        if not is_bound or rows <= 0 or columns <= 0 then return nil end
        local tiles = math.min(tiles_over(rows, columns, tile_m, tile_n), tiles_over(rows, columns, tile_n, tile_m))
        local waste, blocks, units = 1 - rows * columns / (tiles * tile_m * tile_n), row.grid_blocks or 0,
          row.sm_count or 0
        -- A grid below the tiles is one block for each multiprocessor, or not of this product.
        local is_its_grid = blocks >= tiles * count or (blocks > 0 and blocks <= units)
        if waste < cfg.min_waste or units <= 0 or tiles * count < units or not is_its_grid then return nil end
        local ns = waste * row.total_ns
        return {
          title = ("Tiles of %dx%d over a result of %dx%d: %s of the work lies outside"):format(
            tile_m, tile_n, rows, columns, fmt.pct(waste)),
          locations = row.source_file and row.source_file ~= ""
            and { { file = row.source_file, line = row.source_line } } or {},
          evidence = { { "operands and result", row.shapes }, { "tiles of a call", tiles * count, "count" },
                       { "outside the result", waste, "share" } },
          condition = ("%s of the tiles lies outside the result, %s accepted"):format(
            fmt.pct(waste), fmt.pct(cfg.min_waste)),
          remedy = { text = "Choose a batch, sequence or layer width that is a multiple of the tile, or let the "
                       .. "library choose another tile.",
                     code = 'torch.compile(model, mode="max-autotune")   # tries other tiles' },
          impact = impact.exposed { ns = ns, low = 0, high = ns },
        }
      end,
    }
  end,

  examples = {
    -- 17 x 9 tiles of 128x128 over 2052x1026: 1 - 2052 * 1026 / (153 * 16384) = 16.01 %
    { name = "a little over a multiple both ways", format = "kineto", finding = true, impact_ns = 8.005e4,
      facts = { ["step.ns"] = 1e7, ["flops.peak_per_s"] = 3.12e14, ["flops.memory_peak_per_s"] = 2e12 },
      tables = { kernels = { { name = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn", category = "gemm",
                               op = "aten::mm", shapes = "[2052,1024]x[1024,1026]", total_ns = 1e6, grid_blocks = 153,
                               sm_count = 108 } },
                 roofline = { { op = "aten::mm", type = "aten::mm", shapes = "[2052,1024]x[1024,1026]",
                                bound = "compute", ns = 1e6 } } } },
    -- 4 x 6 tiles of 256x192 over 1000x1000, 16 times: 1 - 10^6 / (24 * 49152) = 15.23 %
    { name = "a batch of products on an Instinct", format = "kineto", finding = true, impact_ns = 7.614e4,
      facts = { ["step.ns"] = 1e7, ["flops.peak_per_s"] = 1.3e15, ["flops.memory_peak_per_s"] = 5.3e12 },
      tables = { kernels = { { name = "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1",
                               category = "gemm", op = "aten::bmm", shapes = "[16,1000,4096]x[16,4096,1000]",
                               total_ns = 1e6, grid_blocks = 384, sm_count = 304 } },
                 roofline = { { op = "aten::bmm", type = "aten::bmm", shapes = "[16,1000,4096]x[16,4096,1000]",
                                bound = "compute", ns = 1e6 } } } },
    { name = "a grid of something else", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["flops.peak_per_s"] = 3.12e14, ["flops.memory_peak_per_s"] = 2e12 },
      tables = { kernels = { { name = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn", category = "gemm",
                               op = "aten::mm", shapes = "[2052,1024]x[1024,1026]", total_ns = 1e6, grid_blocks = 120,
                               sm_count = 108 } },
                 roofline = { { op = "aten::mm", type = "aten::mm", shapes = "[2052,1024]x[1024,1026]",
                                bound = "compute", ns = 1e6 } } } },
    { name = "multiples", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["flops.peak_per_s"] = 3.12e14, ["flops.memory_peak_per_s"] = 2e12 },
      tables = { kernels = { { name = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", category = "gemm",
                               op = "aten::addmm", shapes = "[4096]x[4096,1024]x[1024,4096]", total_ns = 1e6,
                               grid_blocks = 132, sm_count = 132 } },
                 roofline = { { op = "aten::addmm", type = "aten::addmm", shapes = "[4096]x[4096,1024]x[1024,4096]",
                                bound = "compute", ns = 1e6 } } } },
    { name = "memory is the limit", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["flops.peak_per_s"] = 3.12e14, ["flops.memory_peak_per_s"] = 2e12 },
      tables = { kernels = { { name = "ampere_sgemm_128x64_nn", category = "gemm", op = "aten::mm",
                               shapes = "[8,4096]x[4096,50304]", total_ns = 1e6, grid_blocks = 786, sm_count = 108 } },
                 roofline = { { op = "aten::mm", type = "aten::mm", shapes = "[8,4096]x[4096,50304]", bound = "memory",
                                ns = 1e6 } } } },
    { name = "fewer tiles than multiprocessors", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["flops.peak_per_s"] = 3.12e14, ["flops.memory_peak_per_s"] = 2e12 },
      tables = { kernels = { { name = "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_stage3_warpsize2x2x1",
                               category = "gemm", op = "aten::mm", shapes = "[520,4096]x[4096,520]", total_ns = 1e6,
                               grid_blocks = 25, sm_count = 108 } },
                 roofline = { { op = "aten::mm", type = "aten::mm", shapes = "[520,4096]x[4096,520]", bound = "compute",
                                ns = 1e6 } } } },
    { name = "a device of unknown peak", format = "kineto", skipped = true, facts = { ["step.ns"] = 1e7 },
      tables = { kernels = { { name = "ampere_sgemm_128x64_nn", category = "gemm", op = "aten::mm",
                               total_ns = 1e6 } } } },
  },
}
