#include "fmbem/problems/hdf5_image.hpp"

#include <algorithm>

#include <hdf5.h>

namespace fmbem {
namespace {

/// One of HDF5's identifiers, closed with its scope.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// While it lives HDF5 prints no errors of its own.
class Silence {
 public:
  Silence() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

void require_written(bool good) {
  if (!good) throw ResourceError("HDF5 has no memory for the solution's file");
}

/// How files in memory are made and opened. In HDF5's first layout, which it makes by default:
/// images of later ones come with wrong checksums (1.10.8).
Handle access_in_memory() {
  constexpr std::size_t increment = std::size_t{64} << 20;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  require_written(access >= 0 && H5Pset_fapl_core(access, increment, false) >= 0);
  return {access, H5Pclose};
}

void write_array(hid_t file, const std::string& name, hid_t type, const void* values,
                 const std::vector<hsize_t>& shape) {
  constexpr hsize_t most_in_chunk = hsize_t{1} << 17;
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                     H5Sclose),
      how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  require_written(space.good() && how.good());
  std::vector<hsize_t> chunk = shape;
  chunk.back() = std::min(chunk.back(), most_in_chunk);
  if (chunk.size() > 1) chunk.front() = std::min(chunk.front(), most_in_chunk / chunk.back());
  for (hsize_t& n : chunk) n = std::max<hsize_t>(n, 1);
  require_written(H5Pset_chunk(how, static_cast<int>(chunk.size()), chunk.data()) >= 0 &&
                  H5Pset_shuffle(how) >= 0 && H5Pset_deflate(how, 1) >= 0);
  const Handle set(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT),
                   H5Dclose);
  require_written(set.good() && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
}

Handle text_type(std::size_t length) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  require_written(type >= 0 && H5Tset_size(type, length) >= 0 &&
                  H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                  H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
  return {type, H5Tclose};
}

}  // namespace

std::string hdf5_version() {
  unsigned numbers[3] = {};
  H5get_libversion(&numbers[0], &numbers[1], &numbers[2]);
  return std::to_string(numbers[0]) + '.' + std::to_string(numbers[1]) + '.' +
         std::to_string(numbers[2]);
}

Hdf5Image::Hdf5Image() {
  const Silence silence;
  const Handle access = access_in_memory();
  file_ = H5Fcreate("solution", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  require_written(file_ >= 0);
}

Hdf5Image::Hdf5Image(const std::string& bytes, const std::string& name) : name_(name) {
  const Silence silence;
  const Handle access = access_in_memory();
  // HDF5 copies what it is given.
  require_written(H5Pset_file_image(access, const_cast<char*>(bytes.data()), bytes.size()) >= 0);
  file_ = H5Fopen("solution", H5F_ACC_RDONLY, access);
  FMBEM_REQUIRE(file_ >= 0,
                name_ << " is no solution that fmbem has kept, or is damaged or cut off");
}

Hdf5Image::~Hdf5Image() {
  const Silence silence;
  if (file_ >= 0) H5Fclose(file_);
}

void Hdf5Image::add_group(const std::string& name) {
  const Silence silence;
  const Handle group(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Gclose);
  require_written(group.good());
}

void Hdf5Image::add_array(const std::string& name, Kind kind, const void* values, std::size_t n,
                          std::size_t columns) {
  const Silence silence;
  const hid_t type = kind == Kind::real    ? H5T_IEEE_F64LE
                     : kind == Kind::int32 ? H5T_STD_I32LE
                                           : H5T_STD_I64LE;
  std::vector<hsize_t> shape{n};
  if (columns > 0) shape = {n / columns, columns};
  write_array(file_, name, type, values, shape);
}

void Hdf5Image::add(const std::string& name, const std::vector<std::string>& texts) {
  const Silence silence;
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  std::string padded;
  for (const std::string& text : texts) padded += text + std::string(length - text.size(), '\0');
  write_array(file_, name, text_type(length), padded.data(), {texts.size()});
}

std::string Hdf5Image::bytes() const {
  const Silence silence;
  require_written(H5Fflush(file_, H5F_SCOPE_LOCAL) >= 0);
  const auto size = H5Fget_file_image(file_, nullptr, 0);
  require_written(size > 0);
  std::string result(static_cast<std::size_t>(size), '\0');
  require_written(H5Fget_file_image(file_, result.data(), result.size()) == size);
  return result;
}

bool Hdf5Image::has(const std::string& name) const {
  const Silence silence;
  for (std::size_t end = name.find('/');; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    if (H5Lexists(file_, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == name.npos) return true;
  }
}

namespace {

/// An array to be read, and its shape.
struct Array {
  Handle set, type;
  std::size_t n;
};

Array open_array(std::int64_t file, const std::string& name, const std::string& of_file) {
  const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  FMBEM_REQUIRE(set >= 0, of_file << " is damaged: " << name << " is missing");
  const Handle space(H5Dget_space(set), H5Sclose);
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  FMBEM_REQUIRE(n >= 0, of_file << " is damaged: " << name << " has no shape");
  return {{set, H5Dclose}, {H5Dget_type(set), H5Tclose}, static_cast<std::size_t>(n)};
}

bool is_of(hid_t type, bool is_real, std::size_t bytes) {
  return H5Tget_class(type) == (is_real ? H5T_FLOAT : H5T_INTEGER) && H5Tget_size(type) == bytes;
}

}  // namespace

std::size_t Hdf5Image::count(const std::string& name, Kind kind) const {
  const Silence silence;
  const Array array = open_array(file_, name, name_);
  FMBEM_REQUIRE(is_of(array.type, kind == Kind::real, kind == Kind::int32 ? 4 : 8),
                name_ << " is damaged: " << name << " is of another type");
  return array.n;
}

void Hdf5Image::read_array(const std::string& name, Kind kind, void* values) const {
  const Silence silence;
  const Array array = open_array(file_, name, name_);
  const hid_t type = kind == Kind::real    ? H5T_NATIVE_DOUBLE
                     : kind == Kind::int32 ? H5T_NATIVE_INT32
                                           : H5T_NATIVE_INT64;
  FMBEM_REQUIRE(H5Dread(array.set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
                name_ << " is damaged: " << name << " cannot be read");
}

std::vector<std::string> Hdf5Image::read_texts(const std::string& name) const {
  const Silence silence;
  const Array array = open_array(file_, name, name_);
  FMBEM_REQUIRE(H5Tget_class(array.type) == H5T_STRING && H5Tis_variable_str(array.type) == 0,
                name_ << " is damaged: " << name << " is no text");
  const std::size_t length = H5Tget_size(array.type);
  std::string padded(array.n * length, '\0');
  FMBEM_REQUIRE(H5Dread(array.set, array.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()) >= 0,
                name_ << " is damaged: " << name << " cannot be read");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < array.n; ++i) {
    const std::string text = padded.substr(i * length, length);
    texts.push_back(text.substr(0, text.find('\0')));
  }
  return texts;
}

}  // namespace fmbem
