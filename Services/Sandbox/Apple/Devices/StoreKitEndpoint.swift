internal import SandboxKit
internal import Clocks
internal import FoundationEssentials

/// `POST /account/v1/autoSignIn/update` and `/delete` of one store; every answer is empty.
struct StoreKitEndpoint: Sendable {
    let memory: AppleMemory
    let store: AppleStore

    private struct Update: Decodable {
        let existingAutoSignInTokenValue: String
        let newAutoSignInTokenValue: String
    }

    private struct Delete: Decodable {
        let autoSignInTokenValue: String
    }

    func update(_ request: AppleRequest) -> AppleAnswer {
        answer(request, Update.self) { order, bundleID, content in
            content.secrets.add(value: order.newAutoSignInTokenValue)
            return content.tokens.replace(
                order.existingAutoSignInTokenValue, with: order.newAutoSignInTokenValue, of: bundleID, in: store, at: request.now)
        }
    }

    func delete(_ request: AppleRequest) -> AppleAnswer {
        answer(request, Delete.self) { order, bundleID, content in
            content.tokens.delete(order.autoSignInTokenValue, of: bundleID, in: store, at: request.now)
        }
    }

    private func answer<Order: Decodable>(
        _ request: AppleRequest, _ type: Order.Type, _ act: (Order, String, inout AppleMemory.Content) -> Bool
    ) -> AppleAnswer {
        memory.access { content in
            let bundleID: String
            do throws(StoreKitToken.Refusal) {
                bundleID = try StoreKitToken.check(request.bearer, content.directory, now: request.now)
            } catch {
                return .empty(.unauthorized, outcome: "\(store.rawValue): \(error.reason)")
            }
            guard request.contentType == "application/json", let order = try? SettingsFault.decode(type, from: request.body) else {
                return .empty(.badRequest, outcome: "\(store.rawValue): the body is not what it should be")
            }
            let isKnown = act(order, bundleID, &content)
            return .empty(isKnown ? .noContent : .notFound, outcome: "\(store.rawValue): \(isKnown ? "done" : "no such value")")
        }
    }
}

/// Checks the JWT of a call to the App Store server (apple §1.3).
enum StoreKitToken {
    /// Seconds after its issue during which a token is accepted.
    static let longestLife: Int64 = 3600
    static let audience = "appstoreconnect-v1"
    /// Seconds that a caller's clock may be ahead.
    private static let tolerance: Int64 = 60

    struct Refusal: Error {
        let reason: String
    }

    /// - Returns: The bundle id of the app that calls.
    static func check(_ text: String?, _ directory: AppleDirectory, now: Timestamp) throws(Refusal) -> String {
        guard let text else { throw Refusal(reason: "there is no bearer") }
        guard let token = CompactToken(text) else { throw Refusal(reason: "the bearer is no JWT") }
        guard token.header["alg"] == .text("ES256"), token.header["typ"] == .text("JWT") else { throw Refusal(reason: "alg or typ is wrong") }
        guard let id = token.header["kid"]?.text, let team = directory.teams.values.first(where: { $0.purchaseKeys[id] != nil }),
            let key = team.purchaseKeys[id]
        else { throw Refusal(reason: "kid names no key") }
        guard key.verifies(token.signature, over: token.signingInput) else { throw Refusal(reason: "the signature does not verify") }
        guard token.claims["iss"] == .text(team.issuer) else { throw Refusal(reason: "iss is another issuer") }
        guard token.claims["aud"] == .text(audience) else { throw Refusal(reason: "aud is wrong") }
        guard let issued = token.claims["iat"]?.number, let expires = token.claims["exp"]?.number else { throw Refusal(reason: "no iat or exp") }
        guard issued <= now.seconds + tolerance else { throw Refusal(reason: "iat is ahead") }
        guard expires - issued <= longestLife else { throw Refusal(reason: "it lives longer than 60 minutes") }
        guard now.seconds < expires else { throw Refusal(reason: "it has expired") }
        guard let bundleID = token.claims["bid"]?.text, let app = directory.app(bundleID), app.group.team == team.id else {
            throw Refusal(reason: "bid is no app of the team")
        }
        return bundleID
    }
}
