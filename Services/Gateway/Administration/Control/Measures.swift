internal import Contracts

/// JSON of degradation rules as the reference's degradation API writes them; clients read `enabled` and `status` together.
enum Measures {
    static func list(_ rules: [ActiveDegradation]) -> Document {
        Document("degradation", [.init("degradation-measure", .list(rules.map(measure), item: "measure"))])
    }

    static func byKind(_ rules: [ActiveDegradation]) -> Document {
        Document(
            "degradation",
            MeasureKind.allCases.map { kind in
                .init(kind.list, .list(rules.filter { $0.rule?.kind == kind.rule }.map(measure), item: "measure"))
            })
    }

    private static func measure(_ active: ActiveDegradation) -> Document.Value {
        let rule = active.rule ?? DegradationRule()
        let kind = MeasureKind(rule.kind) ?? .authnAll
        var members: [Document.Member] = [
            .init("id", .text(kind.measure)), .init("programmer", named(rule.requestorID)), .init("mvpd", named(rule.mvpdID)),
        ]
        if kind != .authnAll || !rule.resources.isEmpty { members.append(.init(kind.target, .list(rule.resources.map(named), item: kind.target))) }
        return .object(
            members + [
                .init("enabled", .flag(active.endedAtMilliseconds == 0)), .init("status", .text(status(active, rule))),
                .init("ttl", .number((rule.endsAtMilliseconds - min(rule.startsAtMilliseconds, rule.endsAtMilliseconds)) / 1000)),
                .init("err-msg", .text(rule.message)), .init("activation-time", .number(rule.startsAtMilliseconds / 1000)),
            ])
    }

    private static func named(_ id: String) -> Document.Value { .object([.init("id", .text(id))]) }

    private static func status(_ active: ActiveDegradation, _ rule: DegradationRule) -> String {
        if active.endedAtMilliseconds == 0 { return "APPLIED" }
        return active.endedAtMilliseconds < rule.endsAtMilliseconds ? "REMOVED" : "EXPIRED"
    }
}
