import Synchronization

/// Stories at a steady rate: each begins when it is due, whatever became of those before it.
final class Load: Sendable {
    /// Stories that may be under way at a time; more mean that requests hang.
    static let mostOpen = 6000

    private let teller: StoryTeller
    private let rate: Double
    private let isStopped = Atomic(false)
    private let open = Atomic(0)
    private let skipped = Atomic(0)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter rate: Stories per second.
    init(_ teller: StoryTeller, rate: Double) {
        self.teller = teller
        self.rate = rate
    }

    /// Stories that were not begun because too many were under way.
    var skippedStories: Int { skipped.load(ordering: .relaxed) }

    func start() {
        let running = Task { await self.run() }
        task.withLock { $0 = running }
    }

    /// No new stories; returns when those under way have ended.
    func stop() async {
        isStopped.store(true, ordering: .relaxed)
        await task.withLock { $0 }?.value
    }

    private func run() async {
        let start = ContinuousClock.now
        var deck = Story.deck.shuffled()
        var number = 0
        await withDiscardingTaskGroup { group in
            while !isStopped.load(ordering: .relaxed) {
                let due = start + .seconds(Double(number) / rate)
                if due > .now { try? await Task.sleep(until: due, clock: .continuous) }
                number += 1
                if deck.isEmpty { deck = Story.deck.shuffled() }
                let story = deck.removeLast()
                guard open.load(ordering: .relaxed) < Self.mostOpen else {
                    skipped.add(1, ordering: .relaxed)
                    continue
                }
                open.add(1, ordering: .relaxed)
                group.addTask {
                    await self.teller.play(story)
                    self.open.subtract(1, ordering: .relaxed)
                }
            }
        }
    }
}
