import Contracts
import Testing

@testable import Rpc

@Suite struct PolicyTests {
    @Test func budgetAllowsATenthOfTheCallsAfterItsReserve() {
        var budget = RetryBudget(capacity: 2, ratio: 0.1)
        #expect(take(&budget) == true)
        #expect(take(&budget) == true)
        #expect(take(&budget) == false)
        for _ in 0..<9 { budget.recordCall() }
        #expect(take(&budget) == false)
        for _ in 0..<2 { budget.recordCall() }
        #expect(take(&budget) == true)
        for _ in 0..<1000 { budget.recordCall() }
        #expect(budget.balance == 2)
    }

    @Test func backoffDoublesUpToItsBoundWithJitter() {
        let backoff = ReconnectBackoff(first: .milliseconds(50), longest: .milliseconds(500))
        #expect(backoff.delay(afterFailures: 0, random: 1) == .milliseconds(50))
        #expect(backoff.delay(afterFailures: 1, random: 1) == .milliseconds(50))
        #expect(backoff.delay(afterFailures: 1, random: 0) == .milliseconds(25))
        #expect(backoff.delay(afterFailures: 3, random: 1) == .milliseconds(200))
        #expect(backoff.delay(afterFailures: 1000, random: 1) == .milliseconds(500))
        #expect(backoff.delay(afterFailures: 1000, random: 0) == .milliseconds(250))
    }

    @Test(arguments: [
        ("127.0.0.1:7001", RpcAddress(host: "127.0.0.1", port: 7001)), ("[::1]:80", RpcAddress(host: "::1", port: 80)),
        ("config.internal:0", RpcAddress(host: "config.internal", port: 0)), ("::1:80", nil), ("host", nil), (":80", nil), ("host:65536", nil),
        ("host:-1", nil),
    ])
    func readsAddress(text: String, address: RpcAddress?) {
        #expect(RpcAddress(text) == address)
        if let address { #expect(address.description == text) }
    }

    @Test func platformServicesAreOpenToWhoeverIsOnSomeList() {
        let list = AllowList(["a.A": ["one"], "b.B": [], ReflectionMethods.service: ["two"]])
        #expect(list.permits(["one"], service: "a.A"))
        #expect(list.permits(["other", "one"], service: "a.A"))
        #expect(!list.permits(["one"], service: "b.B"))
        #expect(!list.permits(["one"], service: "c.C"))
        #expect(list.permits(["one"], service: HealthMethods.service))
        #expect(!list.permits(["three"], service: HealthMethods.service))
        #expect(!list.permits([], service: HealthMethods.service))
        #expect(!list.permits(["one"], service: ReflectionMethods.service))
        #expect(list.permits(["two"], service: ReflectionMethods.service))
    }

    @Test func poolGoesRoundTheReadyConnections() {
        let (one, two) = (Item(), Item())
        var pool = PoolState<Item>(count: 3)
        #expect(pool.isHopeful)
        #expect(pick(&pool, nil) == nil)
        _ = pool.set(.ready(one), at: 0)
        _ = pool.set(.ready(two), at: 2)
        #expect(pick(&pool, nil) === one)
        #expect(pick(&pool, nil) === two)
        #expect(pick(&pool, nil) === one)
        #expect(pick(&pool, two) === one)
        #expect(lose(&pool, one) == true)
        #expect(lose(&pool, one) == false)
        #expect(pick(&pool, two) === two)
        #expect(pool.readyCount == 1)
    }

    @Test func aCallStaysNearAndARetryGoesToAnotherCopy() {
        let items = (0..<4).map { _ in Item() }
        var pool = PoolState<Item>(count: 4, perAddress: 2)
        for (index, item) in items.enumerated() { _ = pool.set(.ready(item), at: index) }
        // Near are the second connections of both copies.
        func next(otherThan other: Item? = nil) -> Int? {
            let chosen = pool.pick(otherThan: other) { $0 === items[1] || $0 === items[3] }
            return items.firstIndex { $0 === chosen }
        }
        #expect([next(), next(), next()] == [1, 3, 1])
        #expect(next(otherThan: items[1]) == 3)
        #expect(next(otherThan: items[3]) == 1)
        #expect(pool.areToOneCopy(items[0], items[1]) && !pool.areToOneCopy(items[1], items[2]))
        _ = pool.lose(items[3], at: 3)
        #expect(next(otherThan: items[1]) == 2, "another copy matters more than nearness")
        _ = pool.lose(items[2], at: 2)
        #expect(next(otherThan: items[1]) == 0)
        _ = pool.lose(items[0], at: 0)
        #expect(next(otherThan: items[1]) == 1)
    }

    private func take(_ budget: inout RetryBudget) -> Bool { budget.takeRetry() }

    private func pick(_ pool: inout PoolState<Item>, _ other: Item?) -> Item? { pool.pick(otherThan: other) }

    private func lose(_ pool: inout PoolState<Item>, _ item: Item) -> Bool { pool.lose(item, at: 0) }
}

private final class Item: Sendable {}
