internal import FoundationEssentials

/// An enhanced error as it is written (rest-v2 §3).
struct UpstreamProblem: Sendable, Codable, Equatable {
    let action: String
    let status: Int
    let code: String
    let message: String
    let details: String?
    let helpUrl: String
    let trace: String

    init(_ code: UpstreamErrorCode, details: String? = nil) {
        self.init(code: code.rawValue, status: code.status, action: code.action, message: code.message, details: details)
    }

    /// A code that the table may lack: tests ask for later ones.
    init(code: String, status: Int, action: String, message: String? = nil, details: String? = nil) {
        self.action = action
        self.status = status
        self.code = code
        self.message = message ?? "The stand-in answers \(code)."
        self.details = details
        helpUrl = "https://upstream.sandbox.example/errors"
        trace = UUID().uuidString.lowercased()
    }
}

/// A request that is refused as a whole.
struct UpstreamRefusal: Error, Sendable {
    let problem: UpstreamProblem

    init(_ code: UpstreamErrorCode, details: String? = nil) { problem = UpstreamProblem(code, details: details) }

    init(_ problem: UpstreamProblem) { self.problem = problem }

    func answer() throws -> UpstreamAnswer { try .json(problem, status: problem.status, outcome: problem.code) }
}
