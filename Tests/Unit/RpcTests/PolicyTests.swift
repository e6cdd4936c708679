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

    private func take(_ budget: inout RetryBudget) -> Bool { budget.takeRetry() }
}
