mod building;
mod made_up;
mod rendering;
