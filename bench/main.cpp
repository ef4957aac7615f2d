#include "bench/main.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem::bench {
namespace {

int fail(const CLI::App& app, ExitCode code, std::string sentence) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  std::cerr << app.get_name() << ": " << sentence << '\n';
  return static_cast<int>(code);
}

}  // namespace

int run_main(CLI::App& app, int argc, char** argv, const std::function<void()>& run) {
  app.name(std::filesystem::path(argv[0]).filename().string());
  try {
    app.parse(argc, argv);
    run();
    return 0;
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return fail(app, ExitCode::bad_input,
                std::string(e.what()) + " (see " + app.get_name() + " --help)");
  } catch (const Error& e) {
    return fail(app, e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(app, ExitCode::out_of_resource, "out of memory: use fewer points or panels");
  } catch (const std::exception& e) {
    return fail(app, ExitCode::internal_error, std::string("internal error: ") + e.what());
  }
}

void add_most_panels(CLI::App& app, std::size_t& most) {
  app.add_option("PANELS", most, "meshes up to this many panels")
      ->capture_default_str()
      ->check(between<std::size_t>(1, 200'000'000));
}

}  // namespace fmbem::bench
