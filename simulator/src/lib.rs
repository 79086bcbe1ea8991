//! The neural debugger: predicts program states. Pure: no path, clock, network or environment.
