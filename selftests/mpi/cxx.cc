// SPDX-License-Identifier: GPL-2.0
// C++ programs use the C interface: containers, complex numbers, a request in an object.
#include <complex>
#include <iostream>
#include <numeric>
#include <vector>

#include <mpi.h>

namespace {

int rank, size;

void expect(bool truth, const char *what)
{
	if (truth)
		return;
	std::cout << "FAIL rank " << rank << ": " << what << std::endl;
	MPI_Abort(MPI_COMM_WORLD, 1);
}

class Sum {
public:
	explicit Sum(double value) : mine(value)
	{
		MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
	}

	double get()
	{
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		return all;
	}

private:
	double mine, all = 0;
	MPI_Request request;
};

} // namespace

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);

	std::vector<int> values(50);
	std::iota(values.begin(), values.end(), rank);
	MPI_Allreduce(MPI_IN_PLACE, values.data(), values.size(), MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
	for (int i = 0; i < static_cast<int>(values.size()); i++)
		expect(values[i] == size * i + size * (size - 1) / 2, "allreduce in place");

	std::complex<double> number(rank, -1), sum;
	MPI_Reduce(&number, &sum, 1, MPI_CXX_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD);
	expect(rank || sum == std::complex<double>(size * (size - 1) / 2, -size), "complex sum");

	bool flag = rank != size - 1;
	MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_CXX_BOOL, MPI_LAND, MPI_COMM_WORLD);
	expect(!flag, "logical and");

	std::vector<Sum> sums;
	sums.reserve(3);
	for (int i = 0; i < 3; i++)
		sums.emplace_back(i);
	for (int i = 0; i < 3; i++)
		expect(sums[i].get() == i * size, "nonblocking sum");

	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		std::cout << "PASS" << std::endl;
	MPI_Finalize();
}
