internal import Contracts
internal import GatewayEdge

/// The input to start a degradation.
struct DegradationForm {
    private static let kinds: [(value: String, kind: DegradationKind, label: String, hint: String)] = [
        ("AuthNAll", .authnAll, "AuthNAll – let everybody in", "Sign-in and decisions pass without asking the MVPD."),
        ("AuthZAll", .authzAll, "AuthZAll – permit every resource", "Who is signed in may watch; sign-ins still go to the MVPD."),
        ("AuthZNone", .authzNone, "AuthZNone – permit nothing", "Decisions are denied, with the message below."),
    ]
    private static let lengths: [(minutes: Int, label: String)] = [
        (15, "15 minutes"), (60, "1 hour"), (120, "2 hours"), (240, "4 hours"), (720, "12 hours"), (1439, "24 hours"),
    ]

    private let kindWord: String
    /// Ids as they were typed.
    private let mvpds: String
    let requestors: [String]
    let minutes: Int
    let message: String
    let reason: String
    private let hasAgreed: Bool
    var problems: [String] = []

    init(mvpds: String, requestors: [String]) {
        (self.mvpds, self.requestors) = (mvpds, requestors)
        (kindWord, minutes, message, reason, hasAgreed) = ("AuthNAll", 120, "", "", false)
    }

    init(_ exchange: Exchange) throws {
        kindWord = try exchange.value("kind") ?? ""
        mvpds = try exchange.value("mvpds") ?? ""
        requestors = try exchange.all("requestor").filter { !$0.isEmpty }
        minutes = Int(try exchange.value("minutes") ?? "") ?? 0
        message = (try exchange.value("message") ?? "").trimmed
        reason = (try exchange.value("reason") ?? "").trimmed
        hasAgreed = try exchange.value("agreed") == "on"
        if mvpdIDs.isEmpty { problems.append("Name at least one MVPD.") }
        if requestors.isEmpty { problems.append("Choose at least one channel.") }
        if kind == .unknown { problems.append("Choose what happens meanwhile.") }
        if !Self.lengths.contains(where: { $0.minutes == minutes }) { problems.append("Choose how long it lasts.") }
        if !hasAgreed { problems.append("Confirm that the MVPD agrees.") }
    }

    var kind: DegradationKind { Self.kinds.first { $0.value == kindWord }?.kind ?? .unknown }

    /// Separated by blanks, commas or lines.
    var mvpdIDs: [String] { mvpds.split { $0.isWhitespace || $0 == "," }.map(String.init) }

    var isComplete: Bool { problems.isEmpty }

    func content(channels: [ConsoleEntry]) -> [String: Any] {
        let chosen = Set(requestors.map { OctetText($0) })
        return [
            "formProblems": problems, "hasProblems": !problems.isEmpty, "mvpds": mvpds, "message": message, "reason": reason, "hasAgreed": hasAgreed,
            "kinds": Self.kinds.map {
                ["kindValue": $0.value, "kindLabel": $0.label, "kindHint": $0.hint, "isKind": $0.value == kindWord] as [String: Any]
            },
            "lengths": Self.lengths.map {
                ["lengthValue": "\($0.minutes)", "lengthLabel": $0.label, "isLength": $0.minutes == minutes] as [String: Any]
            },
            "channels": channels.map {
                ["channelId": $0.id, "channelName": $0.name, "isChannel": chosen.contains(OctetText($0.id))] as [String: Any]
            },
        ]
    }
}

/// A rule in lists.
enum DegradationRow {
    static func content(_ active: ActiveDegradation) -> [String: Any] {
        let rule = active.rule ?? DegradationRule()
        return [
            "ruleId": rule.id, "ruleKind": word(rule.kind), "ruleChannel": rule.requestorID, "ruleMvpd": rule.mvpdID,
            "ruleEnd": DisplayedTime(milliseconds: rule.endsAtMilliseconds).text, "ruleAuthor": active.author,
            "ruleReason": active.reason.isEmpty ? "–" : active.reason,
            "ruleResources": rule.resources.isEmpty ? "every resource" : rule.resources.joined(separator: ", "),
        ]
    }

    private static func word(_ kind: DegradationKind) -> String {
        switch kind {
        case .authnAll: "AuthNAll"
        case .authzAll: "AuthZAll"
        case .authzNone: "AuthZNone"
        case .unknown, .unrecognized: "unknown"
        }
    }
}
