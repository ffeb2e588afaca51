//! In which order the cliques of a region are multiplied.

use super::InferenceError;
use super::plan::{Plan, Planner, Slot};
use super::region::{Input, Region};
use crate::domain::{AttributeId, Clique, Domain};

impl<'a> Region<'a> {
    /// A plan for the sum of the product of all tables onto `wanted`, attributes of the region,
    /// and its inputs.
    ///
    /// Messages run along the region to the clique where they meet at least cost, and keep what is
    /// wanted. An attribute that is wanted at the end of a branch is expensive to keep all the way.
    /// Where the branch hangs on a separator with fewer cells than what is wanted of it, the rest
    /// of the region is summed onto the separator first, and the branch multiplied in at the end.
    pub(super) fn plan(
        &self,
        planner: &mut Planner,
        wanted: &Clique,
    ) -> Result<(Plan, Vec<&Input<'a>>), InferenceError> {
        let mut route = Route { region: self, planner, plan: Plan::default(), inputs: Vec::new() };
        let everything: Vec<usize> = (0..self.nodes.len()).collect();
        route.contract(&everything, wanted)?;
        Ok((route.plan, route.inputs))
    }

    fn attributes_of(&self, members: &[usize]) -> Clique {
        Clique::new(members.iter().flat_map(|&node| self.nodes[node].clique.iter()))
    }
}

struct Route<'r, 'a, 'p, 'd> {
    region: &'r Region<'a>,
    planner: &'p mut Planner<'d>,
    plan: Plan,
    inputs: Vec<&'r Input<'a>>,
}

impl Route<'_, '_, '_, '_> {
    /// The product of the tables of connected cliques, in ascending order, summed onto `wanted`.
    fn contract(&mut self, members: &[usize], wanted: &Clique) -> Result<Slot, InferenceError> {
        let tree = Subtree::new(self.region, self.planner.domain(), members, wanted);
        let Some(child) = tree.best_cut(self.planner.limit()) else {
            let order = tree.towards_meeting_point();
            return self.along(&order, wanted);
        };
        let (below, rest) = tree.cut(child);
        let separator = tree.separator(child).expect("a cut has two sides");
        let mut side = |side: &[usize]| {
            let own = self.region.attributes_of(side).intersection(wanted);
            self.contract(side, &own.union(&separator))
        };
        let parts = [side(&below)?, side(&rest)?];
        self.planner.combine(&mut self.plan, &parts, wanted)
    }

    /// Messages along the cliques; each comes with the next one on the way. A message is a list of
    /// tables: those that nothing is summed out of here are not multiplied before they must be, since
    /// with what is wanted of them their product may be far larger than any clique.
    fn along(
        &mut self,
        order: &[(usize, Option<usize>)],
        wanted: &Clique,
    ) -> Result<Slot, InferenceError> {
        let mut received: Vec<Vec<Slot>> = vec![Vec::new(); self.region.nodes.len()];
        let mut last = None;
        for &(node, next) in order {
            let mut parts = std::mem::take(&mut received[node]);
            for input in &self.region.nodes[node].inputs {
                parts.push(self.plan.input(input.clique.clone()));
                self.inputs.push(input);
            }
            let Some(next) = next else {
                last = Some(self.planner.combine(&mut self.plan, &parts, wanted)?);
                continue;
            };
            let onwards = &self.region.nodes[next].clique;
            let needed = |id: &AttributeId| wanted.contains(*id) || onwards.contains(*id);
            for group in self.tied_together(parts, needed) {
                let all = group.iter().flat_map(|&part| self.plan.clique(part).iter());
                let output: Clique = all.filter(needed).collect();
                received[next].push(self.planner.combine(&mut self.plan, &group, &output)?);
            }
        }
        Ok(last.expect("the last clique has no next one"))
    }

    /// Divides tables into groups: those that share an attribute that is not needed any more must be
    /// multiplied, directly or through others. All are one group when there would be too many.
    fn tied_together(
        &self,
        parts: Vec<Slot>,
        needed: impl Fn(&AttributeId) -> bool,
    ) -> Vec<Vec<Slot>> {
        let mut groups: Vec<(Clique, Vec<Slot>)> = Vec::new();
        for &part in &parts {
            let clique = self.plan.clique(part);
            let mut ties: Clique = clique.iter().filter(|id| !needed(id)).collect();
            let mut members = vec![part];
            groups.retain_mut(|(other, slots)| {
                let apart = other.intersection(&ties).is_empty();
                if !apart {
                    ties = ties.union(other);
                    members.append(slots);
                }
                apart
            });
            groups.push((ties, members));
        }
        match groups.len() <= MOST_TABLES {
            true => groups.into_iter().map(|(_, members)| members).collect(),
            false => vec![parts],
        }
    }
}

/// The largest number of tables in a message: our choice, so that the search for the best pairing at
/// the clique that gets several of them stays short.
const MOST_TABLES: usize = 8;

/// Connected cliques of a region, and what is wanted of them.
struct Subtree<'r, 'a> {
    region: &'r Region<'a>,
    domain: &'r Domain,
    wanted: &'r Clique,
    members: &'r [usize],
    /// For each member the place of its parent among the members.
    parents: Vec<Option<usize>>,
    /// What is wanted of each member and those below it.
    below: Vec<Clique>,
}

impl<'r, 'a> Subtree<'r, 'a> {
    fn new(
        region: &'r Region<'a>,
        domain: &'r Domain,
        members: &'r [usize],
        wanted: &'r Clique,
    ) -> Self {
        let parent = |&node: &usize| {
            region.nodes[node].parent.and_then(|parent| members.binary_search(&parent).ok())
        };
        let parents: Vec<Option<usize>> = members.iter().map(parent).collect();
        let own = |&node: &usize| region.nodes[node].clique.intersection(wanted);
        let mut below: Vec<Clique> = members.iter().map(own).collect();
        for place in 0..members.len() {
            if let Some(parent) = parents[place] {
                below[parent] = below[parent].union(&below[place]);
            }
        }
        Self { region, domain, wanted, members, parents, below }
    }

    fn clique(&self, place: usize) -> &Clique {
        &self.region.nodes[self.members[place]].clique
    }

    fn separator(&self, place: usize) -> Option<Clique> {
        self.parents[place].map(|parent| self.clique(place).intersection(self.clique(parent)))
    }

    /// The member above which to cut, if there is a branch that is better multiplied in at the end:
    /// the separator has fewer cells than what is wanted of the branch alone, and the table over
    /// both is no larger than the largest clique, nor than the limit.
    fn best_cut(&self, limit: usize) -> Option<usize> {
        let cells = |clique: &Clique| self.domain.cells_f64(clique);
        let largest = (0..self.members.len()).map(|place| cells(self.clique(place)));
        let largest = largest.fold(0.0, f64::max).min(limit as f64);
        let mut best = (1.0, None);
        for place in 0..self.members.len() {
            let Some(separator) = self.separator(place) else { continue };
            // Either side can be the branch.
            let inner = self.below[place].minus(&separator);
            let outer = self.wanted.minus(&self.below[place]).minus(&separator);
            let extra = cells(&separator.minus(self.wanted));
            for branch in [inner, outer] {
                let ratio = extra / cells(&branch);
                if ratio < best.0 && cells(&separator.union(&branch)) <= largest {
                    best = (ratio, Some(place));
                }
            }
        }
        best.1
    }

    /// The cliques at and below a member, and the others.
    fn cut(&self, child: usize) -> (Vec<usize>, Vec<usize>) {
        let mut inside = vec![false; self.members.len()];
        inside[child] = true;
        for place in (0..child).rev() {
            inside[place] = self.parents[place].is_some_and(|parent| inside[parent]);
        }
        let (below, rest): (Vec<usize>, Vec<usize>) =
            (0..self.members.len()).partition(|&place| inside[place]);
        let nodes = |places: Vec<usize>| places.into_iter().map(|p| self.members[p]).collect();
        (nodes(below), nodes(rest))
    }

    /// The cliques, each with the next one on the way to the best place to meet, and after those
    /// that lead to it.
    fn towards_meeting_point(&self) -> Vec<(usize, Option<usize>)> {
        let count = self.members.len();
        // The cells that a clique visits when it keeps what is wanted of one side; bounded, so that
        // sums and differences stay finite.
        let bound = f64::MAX / (4 * count) as f64;
        let visits = |place: usize, side: &Clique| {
            self.domain.cells_f64(&self.clique(place).union(side)).min(bound)
        };
        // What the messages to each clique cost, compared with those to the top.
        let mut extra = vec![0.0; count];
        let mut best = (f64::INFINITY, 0);
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); count];
        for place in (0..count).rev() {
            if let Some(parent) = self.parents[place] {
                let upwards = visits(place, &self.below[place]);
                let downwards = visits(parent, &self.wanted.minus(&self.below[place]));
                extra[place] = extra[parent] - upwards + downwards;
                neighbours[parent].push(place);
                neighbours[place].push(parent);
            }
            let cost = extra[place] + visits(place, self.wanted);
            if cost < best.0 {
                best = (cost, place);
            }
        }
        let mut order = vec![(best.1, None)];
        let mut visited = 0;
        while let Some(&(place, next)) = order.get(visited) {
            let others = neighbours[place].iter().filter(|&&other| Some(other) != next);
            order.extend(others.map(|&other| (other, Some(place))));
            visited += 1;
        }
        let node = |place: usize| self.members[place];
        order.into_iter().rev().map(|(place, next)| (node(place), next.map(node))).collect()
    }
}
