// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>

#include "compat.h"
#include "instance.h"
#include "netns.h"
#include "page.h"
#include "socket.h"

/* Move the numbers from the slots to the page, which has them from now on. */
static bool page_begin(struct coll_sock *csk, struct collsock_page *page)
{
	struct coll_completions *slots = csk->slots;
	bool first;

	coll_instance_lock(csk->instance);
	first = slots->page == &slots->own;
	if (first) {
		*page = *slots->page;
		page->size = sizeof(*page);
		WRITE_ONCE(slots->page, page);
	}
	coll_instance_unlock(csk->instance);
	return first;
}

/* Make the page of a socket, unless another thread has just made it. */
static int page_make(struct coll_sock *csk)
{
	struct coll_instance *gi = csk->instance;
	unsigned long page;
	int err;

	/* The process's mappings are locked, so nothing here may wait for the namespace's mutex. */
	err = coll_net_try_charge(gi->cn, gi->user, PAGE_SIZE);
	if (err)
		return err;
	page = get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (page && page_begin(csk, (struct collsock_page *)page)) {
		atomic64_add(PAGE_SIZE, &gi->results);
		return 0;
	}
	/* There is no memory, or another thread was faster. */
	coll_net_uncharge(gi->cn, gi->user, PAGE_SIZE);
	free_page(page);
	return page ? 0 : -ENOMEM;
}

/*
 * Map the page on first access, or again after MADV_DONTNEED. The mapping holds the file, so the
 * socket still has its page.
 */
static vm_fault_t page_fault(struct vm_fault *fault)
{
	struct socket *sock = fault->vma->vm_file->private_data;

	fault->page = virt_to_page(coll_sock_of(sock)->slots->page);
	get_page(fault->page);
	return 0;
}

static const struct vm_operations_struct page_operations = {
	.fault	= page_fault,
};

/**
 * coll_page_map() - mmap() of a socket
 * @csk: the socket
 * @area: where; its lock is held
 *
 * The page is allocated by the first call, and charged to the group's user. A mapping holds the
 * socket, so a child of fork() does not inherit the mapping: the child is not the rank, and the
 * others must see the end of the rank.
 *
 * Return: 0; -ENOTCONN before JOIN, -EINVAL if it is not one page at offset 0, -EACCES if it is
 * to be written or executed; -ENOMEM or -EDQUOT as in JOIN. Context: process.
 */
int coll_page_map(struct coll_sock *csk, struct vm_area_struct *area)
{
	int err;

	if (!coll_sock_instance(csk))
		return -ENOTCONN;
	if (area->vm_pgoff || area->vm_end - area->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (area->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	if (READ_ONCE(csk->slots->page) == &csk->slots->own) {
		err = page_make(csk);
		if (err)
			return err;
	}
	coll_area_flags(area, VM_DONTCOPY | VM_DONTEXPAND, VM_MAYWRITE | VM_MAYEXEC);
	area->vm_ops = &page_operations;
	return 0;
}

/**
 * coll_page_free() - the socket closes, so nothing maps its page
 * @csk: the socket
 *
 * Context: process, before the instance is abandoned.
 */
void coll_page_free(struct coll_sock *csk)
{
	struct coll_completions *slots = csk->slots;
	struct coll_instance *gi = csk->instance;
	struct collsock_page *page;

	coll_instance_lock(gi);
	page = slots->page;
	slots->page = &slots->own;
	coll_instance_unlock(gi);
	if (page == &slots->own)
		return;
	free_page((unsigned long)page);
	atomic64_sub(PAGE_SIZE, &gi->results);
	coll_net_uncharge(gi->cn, gi->user, PAGE_SIZE);
}
