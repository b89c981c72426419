//! Captures: what a graph has used is the graph's until it is given up, and nothing breaks a capture.

use crate::support::{MIB, assert_all_returned, busy, pool, pool_of_others, work, work_on};

#[test]
fn what_was_used_in_a_capture_is_the_graphs_until_it_is_given_up() {
    let (card, pool) = pool(40);
    let (one, two) = (card.stream(), card.stream());
    let graph = card.begin_capture(&one);
    let memory = pool.graph_memory(&one).unwrap().unwrap();
    let freed = busy(&card, &pool, 4 * MIB, &one).unwrap();
    let place = freed.offset();
    drop(freed);
    let kept = busy(&card, &pool, 4 * MIB, &one).unwrap();
    assert_eq!(kept.offset(), place, "inside of the capture it is used again");
    card.end_capture(&one);
    // A block of the graph that is freed later is the graph's as well.
    drop(kept);
    for stream in [&one, &two] {
        let other = busy(&card, &pool, 4 * MIB, stream).unwrap();
        assert_ne!(other.offset(), place);
    }
    pool.trim(u64::MAX, true).unwrap();
    assert_eq!(card.committed_bytes(), 4 * MIB);
    for _ in 0..2 {
        card.launch(graph, &two);
        drop(busy(&card, &pool, 4 * MIB, &one).unwrap());
    }
    card.drop_graph(graph);
    drop(memory);
    assert_eq!(pool.trim(4 * MIB, false).unwrap(), 0, "its last run is not over");
    assert_all_returned(&card, &pool);
}

#[test]
fn where_nobody_asks_for_the_memory_of_a_graph_it_stays_the_graphs() {
    let (card, pool) = pool(40);
    let stream = card.stream();
    card.begin_capture(&stream);
    drop(busy(&card, &pool, 4 * MIB, &stream).unwrap());
    card.end_capture(&stream);
    pool.trim(u64::MAX, true).unwrap();
    assert_eq!(card.committed_bytes(), 4 * MIB);
    assert_eq!(pool.graph_memory(&stream).unwrap().map(drop), None);
}

#[test]
fn a_block_from_before_a_capture_that_is_freed_in_it_is_the_graphs() {
    let (card, pool) = pool(40);
    let (one, two) = (card.stream(), card.stream());
    let block = busy(&card, &pool, 4 * MIB, &one).unwrap();
    let place = block.offset();
    let graph = card.begin_capture(&one);
    let memory = pool.graph_memory(&one).unwrap();
    work(&card, &block);
    drop(block);
    let inside = busy(&card, &pool, 4 * MIB, &one).unwrap();
    card.end_capture(&one);
    let outside = [busy(&card, &pool, 4 * MIB, &one), busy(&card, &pool, 4 * MIB, &two)];
    let outside = outside.map(Result::unwrap);
    for other in std::iter::once(&inside).chain(&outside) {
        assert_ne!(other.offset(), place);
    }
    card.launch(graph, &two);
    drop((inside, outside));
    card.drop_graph(graph);
    drop(memory);
    assert_all_returned(&card, &pool);
}

/// At the limit, with memory that other streams have freed: none of it may be had by a mark, a wait of the
/// stream or by waiting for the device, all of which would end in the graph or break the capture.
#[test]
fn a_capture_gets_memory_without_a_mark_a_wait_or_waiting_for_the_device() {
    let (card, pool) = pool_of_others(4);
    let (one, two) = (card.stream(), card.stream());
    let small = pool.alloc(512, &two).unwrap();
    drop(busy(&card, &pool, 6 * MIB, &one).unwrap());
    let graph = card.begin_capture(&two);
    let memory = pool.graph_memory(&two).unwrap();
    let records = card.state().records;
    drop(busy(&card, &pool, 6 * MIB, &two).unwrap());
    drop(busy(&card, &pool, 6 * MIB, &two).unwrap());
    assert!(pool.alloc(8 * MIB, &two).is_err());
    assert_eq!(card.state().records, records);
    assert!(card.is_idle(&one), "the host has waited for the other stream");
    assert!(card.is_idle(&two));
    card.end_capture(&two);
    card.drop_graph(graph);
    drop((memory, small));
    assert_all_returned(&card, &pool);
}

/// Branches of a graph run side by side, whatever the order of the calls that made them.
#[test]
fn what_one_branch_of_a_capture_frees_is_not_the_other_branchs() {
    let (card, pool) = pool(40);
    let (one, two) = (card.stream(), card.stream());
    let graph = card.begin_capture(&one);
    card.join_capture(&one, &two);
    let memory = pool.graph_memory(&two).unwrap();
    let freed = busy(&card, &pool, 4 * MIB, &one).unwrap();
    let place = freed.offset();
    drop(freed);
    let other = busy(&card, &pool, 4 * MIB, &two).unwrap();
    let own = busy(&card, &pool, 4 * MIB, &one).unwrap();
    assert_eq!(own.offset(), place);
    assert_ne!(other.offset(), place);
    drop((own, other));
    card.end_capture(&one);
    card.end_capture(&two);
    pool.trim(u64::MAX, true).unwrap();
    assert_eq!(card.committed_bytes(), 8 * MIB);
    card.drop_graph(graph);
    drop(memory);
    assert_all_returned(&card, &pool);
}

#[test]
fn a_block_that_the_capture_of_another_stream_uses_is_the_graphs_when_it_is_freed() {
    let (card, pool) = pool(40);
    let (one, two) = (card.stream(), card.stream());
    let block = busy(&card, &pool, 4 * MIB, &one).unwrap();
    let place = block.offset();
    let graph = card.begin_capture(&two);
    let memory = pool.graph_memory(&two).unwrap();
    block.record_stream(&two);
    work_on(&card, &block, &two);
    drop(block);
    card.end_capture(&two);
    // Marks of both streams, and their end.
    for stream in [&one, &two] {
        drop(busy(&card, &pool, 4 * MIB, stream).unwrap());
        card.run(stream);
    }
    pool.trim(u64::MAX, true).unwrap();
    let other = busy(&card, &pool, 4 * MIB, &one).unwrap();
    assert_ne!(other.offset(), place);
    card.launch(graph, &two);
    drop(other);
    card.drop_graph(graph);
    drop(memory);
    assert_all_returned(&card, &pool);
}

#[test]
fn the_memory_of_a_graph_is_given_up_by_the_last_who_holds_it() {
    let (card, pool) = pool(40);
    let stream = card.stream();
    let graph = card.begin_capture(&stream);
    let [first, second] = [(); 2].map(|()| pool.graph_memory(&stream).unwrap().unwrap());
    drop(busy(&card, &pool, 4 * MIB, &stream).unwrap());
    card.end_capture(&stream);
    drop(first);
    pool.trim(u64::MAX, true).unwrap();
    assert_eq!(card.committed_bytes(), 4 * MIB);
    card.drop_graph(graph);
    drop(second);
    assert_all_returned(&card, &pool);
}
