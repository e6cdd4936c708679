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
    let mvpdIDs: [String]
    let requestors: [String]
    let minutes: Int
    let message: String
    let reason: String
    private let hasAgreed: Bool
    var problems: [String] = []

    init(mvpds: [String], requestors: [String]) {
        (mvpdIDs, self.requestors) = (TypedIds.list(mvpds), requestors)
        (kindWord, minutes, message, reason, hasAgreed) = ("AuthNAll", 120, "", "", false)
    }

    init(_ exchange: Exchange) throws {
        kindWord = try exchange.value("kind") ?? ""
        mvpdIDs = TypedIds.list(try exchange.all("mvpds"))
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

    var isComplete: Bool { problems.isEmpty }

    private var hasProblems: Bool { !problems.isEmpty }

    func content(channels: [Requestor]) -> [String: Any] {
        [
            "formProblems": problems, "hasProblems": hasProblems, "message": message, "reason": reason, "hasAgreed": hasAgreed,
            "kinds": Self.kinds.map {
                ["kindValue": $0.value, "kindLabel": $0.label, "kindHint": $0.hint, "isKind": $0.value == kindWord] as [String: Any]
            },
            "lengths": Self.lengths.map {
                ["lengthValue": "\($0.minutes)", "lengthLabel": $0.label, "isLength": $0.minutes == minutes] as [String: Any]
            },
            "channels": ConsoleScope.choices(channels, chosen: requestors),
            "mvpdInputs": TypedIds.inputs(
                mvpdIDs, of: .mvpds, name: "mvpds", id: "mvpds", label: "MVPD", describedBy: "mvpds-hint", isRequired: true,
                isWrong: hasProblems && mvpdIDs.isEmpty),
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
