// A via through the metal core of a board, in mm: a barrel with round pads at its ends in a hole of the
// core, which is filled with epoxy. An eighth of it, between the mirrors x = 0, y = 0 and z = 0.
SetFactory("OpenCASCADE");
barrel = 0.25;  // radii
pad = 0.5;
hole = 0.75;
outer = 2.5;    // of the core
half_core = 0.75;
half_via = 0.95;

// Profiles in the plane y = 0, turned about the z axis.
Point(1) = {barrel, 0, 0};
Point(2) = {barrel, 0, half_via};
Point(3) = {pad, 0, half_via};
Point(4) = {pad, 0, half_via + 0.035};  // copper of 35 um
Point(5) = {0, 0, half_via + 0.035};
Point(6) = {hole, 0, 0};
Point(7) = {hole, 0, half_core};
Point(8) = {outer, 0, half_core};
Point(9) = {outer, 0, 0};
For k In {1:4}
  Line(k) = {k, k + 1};
EndFor
For k In {6:8}
  Line(k) = {k, k + 1};
EndFor
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{1:4}; }
via() = Surface{:};
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{6:8}; }
core() = Surface{:};
core() -= via();
Physical Surface("via") = {via()};
Physical Surface("core") = {core()};
