internal import Foundation

/// Sign-in by the platform's framework, without a second screen (rest-v1 §4.4), printing each step.
struct PlatformSignIn {
    let console: Console
    let app: StreamingApp
    let platform: SimulatedPlatform
    let person: String

    /// - Throws: `CommandFailure` at the first step that does not work.
    func play() async throws {
        let isSignedIn = try await console.step({ $0 ? "The app is signed in already" : "The app is not signed in" }) { try await app.isSignedIn() }
        guard !isSignedIn else { return }
        try await console.step("\(person)'s Apple account is signed in at North Cable, and the app may ask for it") {
            try await platform.set(["access": "granted", "provider": "north-cable", "person": person])
        }
        let provider = try await console.step({ "The framework names the provider \($0)" }) { try await findProvider() }
        let mvpd = try await console.step({ "The catalogue knows it as \($0.id)" }) { try await findMvpd(provider) }
        let token = try await console.step({ "Profile request made (\($0.utf8.count) bytes)" }) { try await app.profileRequest(mvpd: mvpd.id) }
        let response = try await console.step({ "The framework has \(mvpd.id)'s signed answer (\($0.utf8.count) bytes)" }) {
            try await findResponse(provider, token, mvpd.fields)
        }
        try await console.step("The answer is exchanged for a session") {
            try await app.exchange(SimulatedPlatform.encoded(response), mvpd: mvpd.id)
        }
        _ = try await console.step({ "User metadata: tokenSource=\(console.bold($0))" }) { try await tokenSource() }
    }

    private func findProvider() async throws -> String {
        guard try await platform.access() == "granted" else { throw CommandFailure("the app may not ask the framework") }
        let metadata = try await platform.metadata(interruptionAllowed: false)
        guard let provider = metadata.provider, let end = metadata.authenticatedUntil, Date() < end else {
            throw CommandFailure("the framework knows no provider", advice: "sign in the ordinary way: boxoffice device --as \(person)")
        }
        return provider
    }

    private func findMvpd(_ provider: String) async throws -> StreamingApp.PlatformMvpd {
        guard let mvpd = try await app.platformMvpds().first(where: { $0.mapping == provider && $0.isSupported }) else {
            throw CommandFailure("no MVPD of \(app.requestor) is signed in by the platform as \(provider)")
        }
        return mvpd
    }

    private func findResponse(_ provider: String, _ token: String, _ fields: [String]) async throws -> String {
        let metadata = try await platform.metadata(interruptionAllowed: false, attributes: fields, token: token)
        guard metadata.provider == provider, let response = metadata.response else {
            throw CommandFailure("the framework has no answer of the MVPD", advice: metadata.error.map { "its error code is \($0)" })
        }
        return response
    }

    private func tokenSource() async throws -> String {
        let source = try await app.userMetadata()["tokenSource"] as? String ?? ""
        guard source == "Apple" else { throw CommandFailure("the session does not say that it came from Apple") }
        return source
    }
}
