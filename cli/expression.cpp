#include "cli/expression.hpp"

#include <cmath>
#include <numbers>
#include <string_view>

#include <muParser.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

/// muParser takes "x = 3" for an assignment, which nobody means here.
bool assigns(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    const bool is_first = i + 1 < text.size() && text[i + 1] == '=';
    const bool is_second = i > 0 && std::string_view("=!<>").find(text[i - 1]) != text.npos;
    if (!is_first && !is_second) return true;
  }
  return false;
}

class Expression {
 public:
  Expression(const std::string& text, std::string where)
      : where_(std::move(where) + ", the expression \"" + text + "\"") {
    FMBEM_REQUIRE(!assigns(text), where_ << " assigns: compare with ==");
    run([&] {
      const char* const names[] = {"x", "y", "z", "nx", "ny", "nz"};
      for (int k = 0; k < 6; ++k) parser_.DefineVar(names[k], &variables_[k]);
      parser_.DefineConst("pi", std::numbers::pi);
      parser_.DefineConst("eps0", epsilon_0);
      parser_.SetExpr(text);
      int results = 0;
      parser_.Eval(results);
      FMBEM_REQUIRE(results == 1, where_ << " has " << results << " values, and one is due");
    });
  }

  double at(const SurfacePoint& point) {
    for (int k = 0; k < 3; ++k) {
      variables_[k] = point.x[k];
      variables_[3 + k] = point.normal[k];
    }
    double value = 0;
    run([&] { value = parser_.Eval(); });
    FMBEM_REQUIRE(std::isfinite(value), where_ << " is " << value << " at " << place(point.x)
                                               << ": it must be a finite number on all panels");
    return value;
  }

 private:
  template <class Body>
  void run(Body&& body) {
    try {
      body();
    } catch (const mu::Parser::exception_type& e) {
      std::string what = e.GetMsg();
      for (char& c : what)
        if (c == '\n') c = ' ';
      throw InputError(where_ + " cannot be understood: " + what);
    }
  }

  std::string where_;
  mu::Parser parser_;
  double variables_[6] = {};
};

}  // namespace

SurfaceData expression(const std::string& text, const std::string& where) {
  const auto parsed = std::make_shared<Expression>(text, where);
  return [parsed](const SurfacePoint& point) { return parsed->at(point); };
}

std::string expression_library_version() { return mu::Parser().GetVersion(mu::pviBRIEF); }

}  // namespace fmbem::cli
