// A dielectric resonator in its static limit, in mm: half a ball on a ground plane, as in antennas. The
// plane z = 0 is the ground, x = 0 and y = 0 are mirrors.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 12.7, 0, Pi/2, Pi/2};
a() = Boundary{ Volume{1}; };
// What lies in the planes is not meshed.
rest() = Surface{:};
rest() -= {a(0)};
Delete{ Volume{:}; Surface{rest()}; }
Physical Surface("ceramic") = {a(0)};
