//! The order in which the tables of a region are multiplied.

use super::InferenceError;
use super::plan::{Plan, Planner, Slot};
use super::region::{Input, Region};
use crate::domain::{AttributeId, Clique, Domain};

impl<'a> Region<'a> {
    /// A plan for the product of all tables, summed onto `wanted`, and its inputs. `wanted` is a
    /// subset of the region's attributes.
    ///
    /// Messages go to the clique that makes their total cost least. Each message keeps the wanted
    /// attributes of its side. A wanted attribute at the end of a branch is expensive to keep in
    /// every message. If the separator above the branch has fewer cells than the wanted attributes
    /// of the branch, the rest of the region is summed onto the separator first, and the branch is
    /// multiplied in last.
    pub(super) fn plan(
        &self,
        planner: &mut Planner,
        wanted: &Clique,
    ) -> Result<(Plan, Vec<&Input<'a>>), InferenceError> {
        let plan = Plan::default();
        let mut builder = RegionPlanner { region: self, planner, plan, inputs: Vec::new() };
        let all_nodes: Vec<usize> = (0..self.nodes.len()).collect();
        builder.contract(&all_nodes, wanted)?;
        Ok((builder.plan, builder.inputs))
    }

    fn attributes_of(&self, members: &[usize]) -> Clique {
        Clique::new(members.iter().flat_map(|&node| self.nodes[node].clique.iter()))
    }
}

struct RegionPlanner<'r, 'a, 'p, 'd> {
    region: &'r Region<'a>,
    planner: &'p mut Planner<'d>,
    plan: Plan,
    inputs: Vec<&'r Input<'a>>,
}

impl RegionPlanner<'_, '_, '_, '_> {
    /// The product of the tables of `members` summed onto `wanted`. The members are connected and
    /// in ascending order.
    fn contract(&mut self, members: &[usize], wanted: &Clique) -> Result<Slot, InferenceError> {
        let tree = Subtree::new(self.region, self.planner.domain(), members, wanted);
        let Some(child) = tree.best_cut(self.planner.limit()) else {
            return self.pass_messages(&tree.message_schedule(), wanted);
        };
        let (below, rest) = tree.cut(child);
        let separator = tree.separator(child).expect("a cut has two sides");
        let mut side = |side: &[usize]| {
            let own = self.region.attributes_of(side).intersection(wanted);
            self.contract(side, &own.union(&separator))
        };
        let sides = [side(&below)?, side(&rest)?];
        self.planner.combine(&mut self.plan, &sides, wanted)
    }

    /// Passes messages along a schedule of cliques, each with the receiver of its message.
    ///
    /// A message is a list of tables. Tables that lose no attribute here are multiplied later: with
    /// the wanted attributes that they keep, their product can be far larger than any clique.
    fn pass_messages(
        &mut self,
        schedule: &[(usize, Option<usize>)],
        wanted: &Clique,
    ) -> Result<Slot, InferenceError> {
        let mut received: Vec<Vec<Slot>> = vec![Vec::new(); self.region.nodes.len()];
        let mut last = None;
        for &(node, receiver) in schedule {
            let mut factors = std::mem::take(&mut received[node]);
            for input in &self.region.nodes[node].inputs {
                factors.push(self.plan.input(input.clique.clone()));
                self.inputs.push(input);
            }
            let Some(receiver) = receiver else {
                last = Some(self.planner.combine(&mut self.plan, &factors, wanted)?);
                continue;
            };
            let next = &self.region.nodes[receiver].clique;
            let needed = |id: &AttributeId| wanted.contains(*id) || next.contains(*id);
            for group in self.elimination_groups(factors, needed) {
                let all = group.iter().flat_map(|&factor| self.plan.clique(factor).iter());
                let output: Clique = all.filter(needed).collect();
                received[receiver].push(self.planner.combine(&mut self.plan, &group, &output)?);
            }
        }
        Ok(last.expect("the last clique has no receiver"))
    }

    /// Divides tables into groups that must be multiplied here: tables that share an eliminated
    /// attribute, one that is not `needed`, are in one group, directly or through other tables. One
    /// group of all tables if there would be more than [`MAX_MESSAGE_TABLES`].
    fn elimination_groups(
        &self,
        factors: Vec<Slot>,
        needed: impl Fn(&AttributeId) -> bool,
    ) -> Vec<Vec<Slot>> {
        let mut groups: Vec<(Clique, Vec<Slot>)> = Vec::new();
        for &factor in &factors {
            let clique = self.plan.clique(factor);
            let mut eliminated: Clique = clique.iter().filter(|id| !needed(id)).collect();
            let mut members = vec![factor];
            groups.retain_mut(|(other, slots)| {
                let disjoint = other.intersection(&eliminated).is_empty();
                if !disjoint {
                    eliminated = eliminated.union(other);
                    members.append(slots);
                }
                disjoint
            });
            groups.push((eliminated, members));
        }
        match groups.len() <= MAX_MESSAGE_TABLES {
            true => groups.into_iter().map(|(_, members)| members).collect(),
            false => vec![factors],
        }
    }
}

/// The largest number of tables in a message. Our choice: it bounds the search for the best pairing
/// at a clique that receives several messages.
const MAX_MESSAGE_TABLES: usize = 8;

/// Connected cliques of a region, and the attributes that are wanted of them.
struct Subtree<'r, 'a> {
    region: &'r Region<'a>,
    domain: &'r Domain,
    wanted: &'r Clique,
    members: &'r [usize],
    /// For each member, the position of its parent among the members.
    parents: Vec<Option<usize>>,
    /// For each member, the wanted attributes of its subtree.
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

    /// The member above which to cut, if a branch is better multiplied in last: the separator has
    /// fewer cells than the wanted attributes of the branch alone, and the table over both is at
    /// most as large as the largest clique and as the limit.
    fn best_cut(&self, limit: usize) -> Option<usize> {
        let cells = |clique: &Clique| self.domain.cells_f64(clique);
        let largest = (0..self.members.len()).map(|place| cells(self.clique(place)));
        let largest = largest.fold(0.0, f64::max).min(limit as f64);
        let mut best = (1.0, None);
        for place in 0..self.members.len() {
            let Some(separator) = self.separator(place) else { continue };
            // Either side of the separator can be the branch.
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

    /// The cliques of the subtree of a member, and the others.
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

    /// The cliques, each with the receiver of its message and after its senders. The last one,
    /// which has no receiver, is the root that makes the messages cheapest.
    fn message_schedule(&self) -> Vec<(usize, Option<usize>)> {
        let count = self.members.len();
        // The cells that a clique visits when it keeps the wanted attributes of one side. The bound
        // keeps sums and differences finite.
        let bound = f64::MAX / (4 * count) as f64;
        let visits = |place: usize, side: &Clique| {
            self.domain.cells_f64(&self.clique(place).union(side)).min(bound)
        };
        // The cost of messages towards each clique, minus the cost of messages towards the root.
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
