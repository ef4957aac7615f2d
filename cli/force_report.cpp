#include "cli/force_report.hpp"

#include <cmath>

#include "cli/digits.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

/// With four digits of its length.
std::string vector_text(Vec3d v) {
  const double error = error_of_digits(norm(v), 4);
  return "(" + digits(v.x, error) + ", " + digits(v.y, error) + ", " + digits(v.z, error) + ")";
}

}  // namespace

std::string forces_text(const Forces& forces) {
  std::string text;
  for (const BodyForce& body : forces.bodies) {
    text += "\nbody      " + printable(body.name) + ": force " + vector_text(body.force) +
            " N, torque " + vector_text(body.torque) + " N m";
    if (!std::isnan(body.stress_force.x))
      text += "\n          by Maxwell's stress: " + vector_text(body.stress_force) + " N, " +
              vector_text(body.stress_torque) + " N m";
  }
  for (std::size_t k = 0; k < forces.on_charges.size(); ++k)
    text += "\ncharge    number " + std::to_string(k) + ": force " +
            vector_text(forces.on_charges[k]) + " N";
  return text;
}

Json forces_json(const Forces& forces) {
  Json names = Json::array(), charge = names, about = names, force = names, torque = names,
       error = names, stress_force = names, stress_torque = names, on_charges = names;
  for (const BodyForce& body : forces.bodies) {
    names.push_back(body.name);
    charge.push_back(number(body.charge));
    about.push_back(coordinates(body.about));
    force.push_back(coordinates(body.force));
    torque.push_back(coordinates(body.torque));
    error.push_back(number(body.error));
    stress_force.push_back(coordinates(body.stress_force));
    stress_torque.push_back(coordinates(body.stress_torque));
  }
  for (const Vec3d& on_charge : forces.on_charges) on_charges.push_back(coordinates(on_charge));
  return {{"bodies", result_json(names, "1")},
          {"body_charge_C", result_json(charge, "C")},
          {"torque_about", result_json(about, "mesh unit")},
          {"force_N", result_json(force, "N")},
          {"torque_Nm", result_json(torque, "N m")},
          {"force_integration_error_N", result_json(error, "N")},
          {"stress_force_N", result_json(stress_force, "N")},
          {"stress_torque_Nm", result_json(stress_torque, "N m")},
          {"force_on_charges_N", result_json(on_charges, "N")}};
}

}  // namespace fmbem::cli
