internal import Octets
public import EntitlementClient
public import Foundation

/// The source of the providers' signed answers for a simulated platform.
public protocol ProviderAnswers: Sendable {
    /// - Parameters:
    ///   - request: The app's request, with a verification token.
    ///   - provider: The platform's name of the provider.
    /// - Returns: `nil` when the provider gives no answer.
    /// - Throws: `PlatformError`, as the platform reports it to the app.
    func answer(to request: AccountMetadataRequest, at provider: String) async throws -> String?
}

/// Always the same answer; for tests against servers that do not check it.
public struct FixedAnswer: ProviderAnswers {
    private let text: String?

    /// - Parameter text: The answer; `nil`: the provider gives none.
    public init(_ text: String?) { self.text = text }

    public func answer(to request: AccountMetadataRequest, at provider: String) -> String? { text }
}

/// Answers that the sandbox's stand-in providers sign, so that a real server can verify them.
public struct SandboxAnswers: ProviderAnswers {
    private let address: URL
    private let account: String
    private let person: String
    private let flaw: String?
    private let transport: any HTTPTransport

    /// - Parameters:
    ///   - address: Base address of the stand-in Apple.
    ///   - account: Any name; devices with the same name share the stand-in's state.
    ///   - person: The sandbox's person at the provider.
    ///   - flaw: A mistake in the answer, see the sandbox's README.
    public init(address: URL, account: String, person: String = "ada", flaw: String? = nil, transport: any HTTPTransport) {
        (self.address, self.account, self.person, self.flaw, self.transport) = (address, account, person, flaw, transport)
    }

    public func answer(to request: AccountMetadataRequest, at provider: String) async throws -> String? {
        var state = ["access": JSONValue.string("granted"), "provider": .string(provider), "person": .string(person)]
        state["flaw"] = flaw.map { .string($0) }
        let set = try await transport.send(try message(.put, "platform/accounts/\(account)", state))
        guard set.status == 204 else { throw PlatformError(nil, message: "the stand-in Apple answered \(set.status) when an account was set") }
        let question: [String: JSONValue] = [
            "account": .string(account), "channelIdentifier": .string(request.channelIdentifier), "interruptionAllowed": false,
            "attributeNames": .array(request.attributeNames.map { .string($0) }),
            "verificationToken": request.verificationToken.map { .string($0) } ?? .null,
        ]
        let answer = try await transport.send(try message(.post, "platform/metadata", question))
        guard answer.status == 200, let metadata = try? JSONDecoder().decode(Answer.self, from: answer.body) else {
            throw PlatformError(nil, message: "the stand-in Apple answered \(answer.status)")
        }
        if let error = metadata.error { throw PlatformError(PlatformError.Code(rawValue: error.code), message: error.explanation ?? "") }
        return metadata.samlAttributeQueryResponse
    }

    private struct Answer: Decodable {
        struct Failure: Decodable {
            let code: Int
            let explanation: String?
        }

        let samlAttributeQueryResponse: String?
        let error: Failure?
    }

    private func message(_ method: HTTPRequest.Method, _ path: String, _ body: [String: JSONValue]) throws -> HTTPRequest {
        try HTTPRequest(
            method, address.appendingPathComponent(path), headers: [HTTPHeader("Content-Type", "application/json")], body: JSONEncoder().encode(body))
    }
}
