mod building;
mod notes;
mod rendering;
mod styles;
mod synthetic;
