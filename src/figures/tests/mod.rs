mod building;
mod made_up;
mod notes;
mod rendering;
