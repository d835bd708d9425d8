// Times OpenVDB on the events that peers_fracture wrote to the given folder.
//
// `fracture FOLDER`: CASE.txt holds the nodes along x, y and z, the spacing in m and the number of
// regions. CASE.phi is the body and CASE.regions one region after another, dense f32, k fastest. The
// program converts them to narrow bands of three voxels, the usual level sets of OpenVDB, and times
// csgIntersectionCopy of the body and each region and segmentSDF of the result, on one thread.
// Prints "CASE<tab>ms<tab>pieces<tab>volume" lines: processor time, the median of several runs, and
// the volume of the inside voxels in m^3.

#include <openvdb/openvdb.h>
#include <openvdb/tools/Composite.h>
#include <openvdb/tools/LevelSetUtil.h>
#include <openvdb/tools/Prune.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using openvdb::FloatGrid;

static FloatGrid::Ptr band(const float *phi, const std::array<int, 3> &dims, float spacing) {
    const float background = 3.0f * spacing;
    auto grid = FloatGrid::create(background);
    grid->setTransform(openvdb::math::Transform::createLinearTransform(spacing));
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    auto accessor = grid->getAccessor();
    for (int i = 0; i < dims[0]; ++i)
        for (int j = 0; j < dims[1]; ++j)
            for (int k = 0; k < dims[2]; ++k, ++phi) {
                const openvdb::Coord at(i, j, k);
                if (std::abs(*phi) < background) accessor.setValueOn(at, *phi);
                else if (*phi < 0) accessor.setValueOff(at, -background);
            }
    openvdb::tools::pruneLevelSet(grid->tree());
    return grid;
}

static std::vector<float> floats(const std::string &path, size_t count) {
    std::vector<float> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char *>(values.data()), std::streamsize(4 * count));
    if (!file) throw std::runtime_error(path + " is too short");
    return values;
}

static std::vector<FloatGrid::Ptr> pieces(const FloatGrid &body,
                                          const std::vector<FloatGrid::Ptr> &regions) {
    std::vector<FloatGrid::Ptr> all;
    for (const auto &region : regions) {
        const auto common = openvdb::tools::csgIntersectionCopy(body, *region);
        std::vector<FloatGrid::Ptr> parts;
        if (!common->empty()) openvdb::tools::segmentSDF(*common, parts);
        all.insert(all.end(), parts.begin(), parts.end());
    }
    return all;
}

static void time(const std::filesystem::path &about) {
    std::array<int, 3> dims;
    float spacing;
    size_t count;
    std::ifstream(about) >> dims[0] >> dims[1] >> dims[2] >> spacing >> count;
    const size_t nodes = size_t(dims[0]) * dims[1] * dims[2];
    auto path = about;
    const auto phi = floats(path.replace_extension("phi"), nodes);
    const auto body = band(phi.data(), dims, spacing);
    const auto samples = floats(path.replace_extension("regions"), nodes * count);
    std::vector<FloatGrid::Ptr> regions;
    for (size_t n = 0; n < count; ++n) regions.push_back(band(&samples[n * nodes], dims, spacing));
    std::vector<double> times;
    std::vector<FloatGrid::Ptr> found;
    for (int run = 0; run < 15; ++run) {
        const auto start = std::clock();
        found = pieces(*body, regions);
        times.push_back(1e3 * double(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::sort(times.begin(), times.end());
    size_t inside = 0;
    for (const auto &piece : found)
        inside += openvdb::tools::sdfInteriorMask(*piece)->activeVoxelCount();
    std::cout << about.stem().string() << '\t' << times[times.size() / 2] << '\t' << found.size()
              << '\t' << double(inside) * spacing * spacing * spacing << std::endl;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    openvdb::initialize();
    std::vector<std::filesystem::path> cases;
    for (const auto &entry : std::filesystem::directory_iterator(arguments[1]))
        if (entry.path().extension() == ".txt") cases.push_back(entry.path());
    std::sort(cases.begin(), cases.end());
    for (const auto &about : cases) time(about);
}
