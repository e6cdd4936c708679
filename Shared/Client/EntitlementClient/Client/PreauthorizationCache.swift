internal import Octets

/// Answers of preauthorizations that can be used again for a while.
struct PreauthorizationCache: Sendable {
    struct Key: Hashable, Sendable {
        let provider: Provider.ID
        let userID: String
        let resources: [Resource.ID]
    }

    private static let limit = 32
    private var answers: [Key: (decisions: [Decision], until: Duration)] = [:]

    /// - Parameter now: The clock's uptime.
    func decisions(_ key: Key, at now: Duration) -> [Decision]? {
        guard let answer = answers[key], now < answer.until else { return nil }
        return answer.decisions
    }

    mutating func keep(_ decisions: [Decision], _ key: Key, until end: Duration, now: Duration) {
        answers = answers.filter { now < $0.value.until }
        if answers.count >= Self.limit { answers = [:] }
        answers[key] = (decisions, end)
    }
}
