#include "cli/force_report.hpp"

#include <cmath>

#include "cli/digits.hpp"

namespace fmbem::cli {
namespace {

/// With four digits of its length.
std::string vector_text(Vec3d v) {
  const double error = error_of_digits(norm(v), 4);
  return "(" + digits(v.x, error) + ", " + digits(v.y, error) + ", " + digits(v.z, error) + ")";
}

Json vector_json(Vec3d v) { return Json::array({number(v.x), number(v.y), number(v.z)}); }

Json mesh_value(Json value, const char* unit) {
  return {{"value", std::move(value)}, {"unit", unit}, {"location", "mesh"}};
}

}  // namespace

std::string forces_text(const Forces& forces) {
  std::string text;
  for (const BodyForce& body : forces.bodies) {
    text += "\nbody      " + body.name + ": force " + vector_text(body.force) + " N, torque " +
            vector_text(body.torque) + " N m";
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
    about.push_back(vector_json(body.about));
    force.push_back(vector_json(body.force));
    torque.push_back(vector_json(body.torque));
    error.push_back(number(body.error));
    stress_force.push_back(vector_json(body.stress_force));
    stress_torque.push_back(vector_json(body.stress_torque));
  }
  for (const Vec3d& on_charge : forces.on_charges) on_charges.push_back(vector_json(on_charge));
  return {{"bodies", mesh_value(names, "1")},
          {"body_charge_C", mesh_value(charge, "C")},
          {"torque_about", mesh_value(about, "mesh unit")},
          {"force_N", mesh_value(force, "N")},
          {"torque_Nm", mesh_value(torque, "N m")},
          {"force_integration_error_N", mesh_value(error, "N")},
          {"stress_force_N", mesh_value(stress_force, "N")},
          {"stress_torque_Nm", mesh_value(stress_torque, "N m")},
          {"force_on_charges_N", mesh_value(on_charges, "N")}};
}

}  // namespace fmbem::cli
