// A head as three spheres, in mm: brain, skull and scalp.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 87};
Sphere(2) = {0, 0, 0, 92};
Sphere(3) = {0, 0, 0, 100};
Physical Surface("brain") = {1};
Physical Surface("skull") = {2};
Physical Surface("scalp") = {3};
