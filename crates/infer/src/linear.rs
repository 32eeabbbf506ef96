//! Small dense matrices: as many rows as a family has free parameters.

/// A square matrix, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    size: usize,
    cells: Vec<f64>,
}

impl Matrix {
    /// Returns a diagonal matrix.
    pub(crate) fn diagonal(size: usize, value: f64) -> Self {
        let mut matrix = Self { size, cells: vec![0.0; size * size] };
        for index in 0..size {
            *matrix.at(index, index) = value;
        }
        matrix
    }

    /// Returns the cell of a row and a column.
    pub(crate) fn get(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.size + column]
    }

    /// Returns a cell to change.
    pub(crate) fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.cells[row * self.size + column]
    }

    /// Adds the outer product of a vector, scaled.
    pub(crate) fn add_outer(&mut self, vector: &[f64], scale: f64) {
        for row in 0..self.size {
            for column in 0..self.size {
                *self.at(row, column) += scale * vector[row] * vector[column];
            }
        }
    }

    /// Multiplies every cell by the factor.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.cells.iter_mut().for_each(|cell| *cell *= factor);
    }

    /// Returns the product of a vector, the matrix and the vector.
    pub(crate) fn square(&self, vector: &[f64]) -> f64 {
        let row =
            |row: usize| (0..self.size).map(|column| self.get(row, column) * vector[column]).sum::<f64>();
        (0..self.size).map(|index| vector[index] * row(index)).sum()
    }

    /// Returns the lower factor of Cholesky, or `None` if the matrix is not positive definite.
    pub(crate) fn factor(&self) -> Option<Self> {
        let mut lower = Self::diagonal(self.size, 0.0);
        for row in 0..self.size {
            for column in 0..=row {
                let sum: f64 = (0..column).map(|k| lower.get(row, k) * lower.get(column, k)).sum();
                let rest = self.get(row, column) - sum;
                *lower.at(row, column) = if row == column {
                    if rest <= 0.0 {
                        return None;
                    }
                    rest.sqrt()
                } else {
                    rest / lower.get(column, column)
                };
            }
        }
        Some(lower)
    }

    /// Returns a lower triangular matrix times a vector.
    pub(crate) fn lower_times(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.size).map(|row| (0..=row).map(|k| self.get(row, k) * vector[k]).sum()).collect()
    }

    /// Solves `self * x = right`, where this is a lower factor.
    pub(crate) fn solve_lower(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for row in 0..self.size {
            let sum: f64 = (0..row).map(|k| self.get(row, k) * x[k]).sum();
            x[row] = (x[row] - sum) / self.get(row, row);
        }
        x
    }

    /// Solves `selfᵀ * x = right`, where this is a lower factor.
    pub(crate) fn solve_upper(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for row in (0..self.size).rev() {
            let sum: f64 = (row + 1..self.size).map(|k| self.get(k, row) * x[k]).sum();
            x[row] = (x[row] - sum) / self.get(row, row);
        }
        x
    }

    /// Returns the logarithm of the determinant of the matrix of which this is the factor.
    pub(crate) fn log_determinant(&self) -> f64 {
        2.0 * (0..self.size).map(|index| self.get(index, index).ln()).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves_its_equations() {
        let mut matrix = Matrix::diagonal(3, 1.0);
        matrix.add_outer(&[1.0, 2.0, 3.0], 1.0);
        let factor = matrix.factor().unwrap();
        let x = factor.solve_upper(&factor.solve_lower(&[1.0, 0.0, 2.0]));
        for (row, right) in [1.0, 0.0, 2.0].into_iter().enumerate() {
            let product: f64 = (0..3).map(|k| matrix.get(row, k) * x[k]).sum();
            assert!((product - right).abs() < 1e-12, "{row}: {product}");
        }
        // The determinant of I + vvᵀ is 1 + vᵀv.
        assert!((factor.log_determinant() - 15f64.ln()).abs() < 1e-12);
    }
}
