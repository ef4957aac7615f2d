// A cell between the electrodes of a dielectrophoresis chip, in um: cytoplasm in a thick wall. The field
// is along z, so that the plane z = 0 stays at potential 0 and x = 0 and y = 0 are mirrors; an eighth of
// it is meshed.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 4, 0, Pi/2, Pi/2};
Sphere(2) = {0, 0, 0, 5, 0, Pi/2, Pi/2};
a() = Boundary{ Volume{1}; };
b() = Boundary{ Volume{2}; };
// What lies in the planes is not meshed.
rest() = Surface{:};
rest() -= {a(0), b(0)};
Delete{ Volume{:}; Surface{rest()}; }
Physical Surface("cytoplasm") = {a(0)};
Physical Surface("wall") = {b(0)};
