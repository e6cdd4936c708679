internal import FoundationEssentials
internal import HTTPTypes

extension UpstreamFault {
    /// What goes out in place of the genuine answer.
    /// - Parameter genuine: Empty where nothing was done.
    func answer(in genuine: UpstreamAnswer) throws -> UpstreamAnswer {
        var answer = genuine
        switch kind {
        case .answer: answer = scripted
        case .error:
            let known = code.flatMap(UpstreamErrorCode.init).flatMap { status == nil && action == nil ? $0 : nil }
            let problem =
                known.map { UpstreamProblem($0, details: details) }
                ?? UpstreamProblem(code: code ?? "", status: status ?? 400, action: action ?? "none", details: details)
            answer = try UpstreamRefusal(problem).answer()
        case .merge:
            if let merge, let document = try? JSONDecoder().decode(AppleClaim.self, from: Data(genuine.body)) {
                answer.body = try UpstreamAnswer.encoded(document.merged(with: merge))
            }
        case .delay, .hang, .applyThenHang, .reset, .applyThenReset, .truncate: break
        }
        if let padTo, answer.body.count < padTo { answer.body += [UInt8](repeating: UInt8(ascii: " "), count: padTo - answer.body.count) }
        return answer
    }

    private var scripted: UpstreamAnswer {
        var fields: HTTPFields = [:]
        for (name, value) in headers ?? [:] { if let name = HTTPField.Name(name) { fields[name] = value } }
        let octets = bodyBase64.flatMap(Base64.octets) ?? Array((body ?? "").utf8)
        if !octets.isEmpty, fields[.contentType] == nil { fields[.contentType] = "application/json;charset=UTF-8" }
        return UpstreamAnswer(status: status ?? 500, headers: fields, body: octets, outcome: "scripted")
    }
}

extension AppleClaim {
    /// A JSON merge patch (RFC 7396 §2): null removes a member.
    func merged(with patch: AppleClaim) -> AppleClaim {
        guard case .object(let changes) = patch else { return patch }
        var members: [String: AppleClaim] = [:]
        if case .object(let own) = self { members = own }
        for (name, change) in changes {
            members[name] = change == .null ? nil : (members[name] ?? .null).merged(with: change)
        }
        return .object(members)
    }
}
