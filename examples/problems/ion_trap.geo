// A quadrupole ion trap (Paul trap), in mm: a ring and two endcaps, hyperbolas turned about the z
// axis, r^2 - 2 z^2 = r0^2 and 2 z^2 - r^2 = r0^2. An eighth of it, between the mirrors x = 0, y = 0
// and z = 0.
SetFactory("OpenCASCADE");
r0 = 10;
end = 1.7;  // of the hyperbolas: r = r0 cosh t and r0 sinh t
n = 8;
For k In {0:n}
  t = end * k / n;
  Point(1 + k) = {r0 * Cosh(t), 0, r0 / Sqrt(2) * Sinh(t)};
  Point(101 + k) = {r0 * Sinh(t), 0, r0 / Sqrt(2) * Cosh(t)};
EndFor
Spline(1) = {1:n + 1};
Spline(2) = {101:101 + n};
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{1}; }
ring() = Surface{:};
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{2}; }
endcap() = Surface{:};
endcap() -= ring();
Physical Surface("ring") = {ring()};
Physical Surface("endcap") = {endcap()};
