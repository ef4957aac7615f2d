// The tip of an electrode on an insulating carrier, in mm: half a ball in a layer of scar tissue. The
// carrier is the mirror z = 0; x = 0 and y = 0 are mirrors too, so that a quarter of it is meshed.
SetFactory("OpenCASCADE");
tip = 0.5;
scar = 0.8;
Sphere(1) = {0, 0, 0, tip, 0, Pi/2, Pi/2};
Sphere(2) = {0, 0, 0, scar, 0, Pi/2, Pi/2};
a() = Boundary{ Volume{1}; };
b() = Boundary{ Volume{2}; };
// What lies in the planes is not meshed.
rest() = Surface{:};
rest() -= {a(0), b(0)};
Delete{ Volume{:}; Surface{rest()}; }
Physical Surface("tip") = {a(0)};
Physical Surface("scar") = {b(0)};
