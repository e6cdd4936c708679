internal import Foundation

/// What `/admin/v1/support/sessions` answers, as lines for a terminal.
struct ViewerAnswer: Decodable {
    struct Session: Decodable {
        let id: String
        let mvpd: String
        let way: String
        /// Milliseconds since 1970.
        let authenticatedAt: Int64
        let expiresAt: Int64
        let device: String
        let deviceType: String?
        let deviceModel: String?
        let os: String?
        let lastRefusal: Refusal?
    }

    struct Refusal: Decodable {
        let at: Int64
        let code: String
        let reason: String
    }

    struct Code: Decodable {
        let createdAt: Int64
        let expiresAt: Int64
        let used: Bool
    }

    let sessions: [Session]
    let more: Bool
    let code: Code?
    /// Absent: a gateway of an older release.
    let refusalsKnown: Bool?

    init(_ body: [UInt8]) throws { self = try JSONDecoder().decode(ViewerAnswer.self, from: Data(body)) }

    var lines: [String] {
        var lines: [String] = []
        if let code {
            lines.append("code made \(Self.moment(code.createdAt)), ends \(Self.moment(code.expiresAt)), \(code.used ? "used" : "not used yet")")
        }
        if sessions.isEmpty { lines.append("no session; those that are over are known for a day") }
        for session in sessions {
            let device = ([session.deviceType, session.deviceModel, session.os].compactMap { $0 } + ["id \(session.device)"]).joined(separator: ", ")
            lines.append(session.id)
            lines.append("  \(session.way) at \(session.mvpd) since \(Self.moment(session.authenticatedAt)), until \(Self.moment(session.expiresAt))")
            lines.append("  \(device)")
            if let refusal = session.lastRefusal { lines.append("  last no \(Self.moment(refusal.at)): \(refusal.reason) (\(refusal.code))") }
        }
        if refusalsKnown == false { lines.append("why decisions were a no is not known now: the authorization service does not tell") }
        if more { lines.append("there are more: name the MVPD, or look for the device") }
        return lines
    }

    private static func moment(_ milliseconds: Int64) -> String { Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601) }
}
