! SPDX-License-Identifier: GPL-2.0
! Collective operations by MPI's module for Fortran 2008.
program test
  use mpi_f08
  implicit none
  integer :: rank, ranks, ierror, i, found, value, total
  integer :: numbers(20)
  double precision :: mine, all(2)
  type(MPI_Request) :: requests(2)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  total = ranks * (ranks - 1) / 2

  value = rank + 40
  call MPI_Bcast(value, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierror)
  call expect(value == ranks + 39, "bcast")

  value = -1
  call MPI_Reduce(rank, value, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  call expect(rank /= 0 .or. value == total, "reduce")

  numbers = [(rank + i, i = 1, 20)]
  call MPI_Allreduce(MPI_IN_PLACE, numbers, 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect(all_equal(numbers, total, ranks), "allreduce in place")

  mine = rank + 0.5d0
  do i = 1, 2
    call MPI_Iallreduce(mine, all(i), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, &
            requests(i), ierror)
  end do
  do i = 1, 2
    call MPI_Waitany(2, requests, found, MPI_STATUS_IGNORE, ierror)
  end do
  ! MPICH 4.0 has its own numbers for what it found
  call expect(requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL, "waitany")
  call expect(all(1) == ranks - 0.5d0 .and. all(2) == all(1), "iallreduce")

  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a)', "PASS"
  call MPI_Finalize(ierror)

contains

  logical function all_equal(found, total, ranks)
    integer, intent(in) :: found(20), total, ranks
    integer :: i

    all_equal = .true.
    do i = 1, 20
      if (found(i) /= total + i * ranks) all_equal = .false.
    end do
  end function

  subroutine expect(truth, what)
    logical, intent(in) :: truth
    character(*), intent(in) :: what

    if (truth) return
    print '(a, i0, 2a)', "FAIL rank ", rank, ": ", what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
