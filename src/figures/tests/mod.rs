mod building;
mod notes;
mod rendering;
mod synthetic;
