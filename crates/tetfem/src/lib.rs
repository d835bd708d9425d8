//! Finite elements on tetrahedra for stress at impact (Mu01).
