internal import Catalogue
internal import Clocks
internal import Contracts

/// The rules that a degradation rule must obey before it takes effect (dashboard §4, #33).
struct DegradationCheck {
    /// The longest that a rule lasts; it can be renewed.
    static let longest: Duration = .seconds(24 * 3600)

    let request: StartDegradationRequest
    let catalogue: Catalogue
    let now: Timestamp

    var problems: [FieldProblem] {
        var problems = mvpds + resources + platforms
        switch request.kind {
        case .authnAll, .authzAll, .authzNone: break
        case .unknown, .unrecognized: problems.append(FieldProblem(field: "kind", message: "must be authnAll, authzAll or authzNone"))
        }
        if let problem = Self.end(request.endsAtMilliseconds, now: now) { problems.append(problem) }
        if !FreeText.isGood(request.message, 0...500) { problems.append(FieldProblem(field: "message", message: "must have at most 500 characters")) }
        if !FreeText.isGood(request.reason, 0...500) { problems.append(FieldProblem(field: "reason", message: "must have at most 500 characters")) }
        return problems
    }

    static func end(_ milliseconds: UInt64, now: Timestamp) -> FieldProblem? {
        if milliseconds == 0 { return FieldProblem(field: "endsAt", message: "is missing") }
        let end = Timestamp(milliseconds: Int64(clamping: milliseconds))
        guard now < end, end <= now + longest else {
            return FieldProblem(field: "endsAt", message: "must be after now, and at most 24 hours from now")
        }
        return nil
    }

    private var mvpds: [FieldProblem] {
        if request.mvpdIDs.isEmpty { return [FieldProblem(field: "mvpds", message: "must name at least one MVPD")] }
        var seen: Set<OctetText> = []
        return request.mvpdIDs.enumerated().compactMap { index, id in
            if !seen.insert(id).inserted { return FieldProblem(field: "mvpds[\(index)]", message: "is there twice") }
            guard catalogue.integration(requestor: request.requestorID, mvpd: id) == nil else { return upstreamProblem(id, "mvpds[\(index)]") }
            return FieldProblem(field: "mvpds[\(index)]", message: "is no MVPD that is integrated with the requestor")
        }
    }

    /// Where an upstream decides, a rule that permits needs media tokens of ours (bridge §3.3).
    private func upstreamProblem(_ mvpd: String, _ field: String) -> FieldProblem? {
        guard [.authnAll, .authzAll].contains(request.kind), !catalogue.permitsByRule(requestor: request.requestorID, mvpd: mvpd) else { return nil }
        return FieldProblem(field: field, message: "is served by an upstream: it needs localMediaTokens of the requestor, or the kind authzNone")
    }

    private var resources: [FieldProblem] {
        if request.resources.count > 1000 { return [FieldProblem(field: "resources", message: "must have at most 1000")] }
        return request.resources.enumerated().compactMap { index, resource in
            guard resource.isEmpty || resource.utf8.count > 1024 else { return nil }
            return FieldProblem(field: "resources[\(index)]", message: "must have 1 to 1024 bytes")
        }
    }

    private var platforms: [FieldProblem] {
        request.platforms.enumerated().compactMap { index, platform in
            switch platform {
            case .unknown, .unrecognized: FieldProblem(field: "platforms[\(index)]", message: "is no known platform")
            case .ios, .tvos, .roku, .fireTv, .android, .desktop, .otherMobile, .otherTv: nil
            }
        }
    }
}

extension DegradationKind {
    /// As the log has it.
    var name: String {
        switch self {
        case .authnAll: "AuthNAll"
        case .authzAll: "AuthZAll"
        case .authzNone: "AuthZNone"
        case .unknown, .unrecognized: "unknown"
        }
    }
}
