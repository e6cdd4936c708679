import Testing

@testable import CommandKit

@Suite struct HttpRetryBudgetTests {
    private func answer(_ status: Int, _ retryAfter: String?) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: retryAfter.map { [("Retry-After", $0)] } ?? [], body: [])
    }

    @Test func aRefusalIsWaitedOutAsLongAsPatienceLasts() {
        var patience = HttpRetryBudget(.seconds(5))
        let pauses = [(503, "2"), (429, "0"), (503, "2"), (503, "1")].map { patience.pause(after: answer($0.0, $0.1)) }
        #expect(pauses == [.seconds(2), .milliseconds(100), .seconds(2), nil])
        #expect(patience.left == .milliseconds(900))
    }

    @Test(
        "other answers stand",
        arguments: [
            (200, "1"), (404, "1"), (500, "1"), (503, nil), (503, "soon"), (503, "-1"), (503, "99999999999999999999"),
            (503, "Wed, 21 Oct 2026 07:28:00 GMT"),
        ] as [(Int, String?)])
    func stands(status: Int, retryAfter: String?) {
        var patience = HttpRetryBudget(.seconds(5000))
        let pause = patience.pause(after: answer(status, retryAfter))
        #expect(pause == nil)
    }

    @Test func withoutPatienceEveryAnswerStands() {
        var patience = HttpRetryBudget(.zero)
        let pause = patience.pause(after: answer(503, "0"))
        #expect(pause == nil)
    }
}
