#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/npy_file.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"

namespace fmbem::test::output_tests {

TEST_CASE("a folder for outputs stays if it is committed or was there") {
  const TemporaryFolder folder;
  const std::string path = folder.file("made");
  {
    const OutputFolder abandoned(path);
    const OutputFile file(path + "/a.npy");
    CHECK(std::filesystem::exists(file.partial_path()));
    remove_partial_output();  // as an interrupt does
    CHECK(folder.entries() == 0);
  }
  { const OutputFolder abandoned(path); }
  CHECK(folder.entries() == 0);
  { OutputFolder(path).commit(); }
  CHECK(folder.entries() == 1);
  { const OutputFolder there(path); }
  CHECK(folder.entries() == 1);
  CHECK_THAT(refusal([&] { OutputFolder(folder.write("file", "x")); }), contains("not a folder"));
  CHECK_THAT(refusal([] { OutputFolder("/no/such/folder"); }), contains("/no/such/folder"));
}

TEST_CASE("two who make the same folder at once both have it") {
  const TemporaryFolder folder;
  std::atomic<int> failed{0};
  for (int round = 0; round < 300; ++round) {
    const std::string path = folder.file("made" + std::to_string(round));
    const auto make = [&] {
      try {
        OutputFolder(path).commit();
      } catch (const std::exception&) {
        ++failed;
      }
    };
    std::thread other(make);
    make();
    other.join();
  }
  CHECK(failed == 0);
  CHECK(folder.entries() == 300);
}

namespace {
volatile std::sig_atomic_t raised = 0;
}  // namespace

TEST_CASE("a signal waits until files that belong together have their names") {
  const auto before = std::signal(SIGUSR1, [](int signal) {
    if (!hold_interrupt(signal)) raised = raised + 1;
  });
  {
    const HeldInterrupts outer;
    {
      const HeldInterrupts inner;
      std::raise(SIGUSR1);
    }
    CHECK(raised == 0);
  }
  CHECK(raised == 1);
  std::raise(SIGUSR1);
  CHECK(raised == 2);
  std::signal(SIGUSR1, before);
}

TEST_CASE("a .npy has the header that its format asks for") {
  const TemporaryFolder folder;
  const std::vector<double> values{1, -2.5, 1e300, 0, 3, 4};
  {
    auto file = NpyFile::of<double>(folder.file("a.npy"), {2, 3}, NpyFile::Order::columns);
    file.write(std::span(values).first(4));
    file.write(std::span(values).subspan(4));
    file.close();
    CHECK_FALSE(std::filesystem::exists(folder.file("a.npy")));
    file.commit();
  }
  const std::string bytes = read_file(folder.file("a.npy"));
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t data =
      10 + static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  CHECK(data % 64 == 0);
  CHECK(bytes[data - 1] == '\n');
  CHECK_THAT(bytes.substr(10, data - 10),
             contains("{'descr': '<f8', 'fortran_order': True, 'shape': (2,3,), }"));
  REQUIRE(bytes.size() == data + sizeof(double) * values.size());
  CHECK(std::memcmp(bytes.data() + data, values.data(), sizeof(double) * values.size()) == 0);
  { const auto abandoned = NpyFile::of<std::int64_t>(folder.file("b.npy"), {1}); }
  CHECK(folder.entries() == 1);
}

TEST_CASE("a table is what RFC 4180 says") {
  const TemporaryFolder folder;
  write_csv_table(folder.file("a.csv"), {"name", "x"},
                  {{"plain", "1"}, {"a,b", ""}, {"say \"so\"", "two\nlines"}, {"", "2"}});
  CHECK(read_file(folder.file("a.csv")) ==
        "name,x\r\nplain,1\r\n\"a,b\",\r\n\"say \"\"so\"\"\",\"two\nlines\"\r\n,2\r\n");
  CHECK(shortest_digits(0.1) == "0.1");
  CHECK(shortest_digits(-std::nan("")) == "nan");
}

}  // namespace fmbem::test::output_tests
