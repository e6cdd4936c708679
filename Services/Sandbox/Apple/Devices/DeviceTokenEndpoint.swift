internal import Clocks
internal import FoundationEssentials
internal import Hummingbird
internal import SandboxKit

/// `/_device/accounts/{account}/apps/{bundleID}/token`: what `VSUserAccountManager` does on a device.
struct DeviceTokenEndpoint: Sendable {
    let memory: AppleMemory

    private struct Where: Decodable {
        let device: String?
        let environment: AppleStore?
    }

    private struct Asking: Decodable {
        let device: String?
        let environment: AppleStore?
        let answer: AutoSignInStateMachine.Answer
        let fromSettings: Bool?
    }

    private struct Storing: Decodable {
        let device: String?
        let environment: AppleStore?
        let value: String
        let context: String
    }

    private struct Token: Encodable {
        let account: String
        var value: String?
        let authorization: AutoSignInAuthorization
        let authorizationNumber: Int
        /// The app's sheet was shown on this account this often.
        let sheetsShown: Int
    }

    private struct Prompt: Encodable {
        let authorization: AutoSignInAuthorization
        let context: String
        let sheetShown: Bool
    }

    /// `autoSignInToken`; the query names `device` and `environment`.
    func read(_ request: AppleRequest) -> AppleAnswer {
        answer(request) { content in
            guard let store = AppleStore(rawValue: request.queryValue("environment") ?? "production") else {
                throw SettingsFault(key: "environment", problem: "is production or sandbox")
            }
            return try Self.token(Self.key(request, store), device: request.queryValue("device"), content, request.now)
        }
    }

    /// `requestAutoSignInAuthorization()`.
    func authorize(_ request: AppleRequest) -> AppleAnswer {
        answer(request) { content in
            let asking = try SettingsFault.decode(Asking.self, from: request.body)
            let device = asking.device ?? Self.standardDevice
            guard content.tokens.device(device).platform.storesValues else { return Self.unavailable }
            let key = Self.key(request, asking.environment ?? .production)
            let prompt = content.tokens[key].request(
                asking.answer, isFromSettings: asking.fromSettings ?? false, on: device, context: content.octets.text(12, for: "context"),
                at: request.now)
            let told = Prompt(authorization: prompt.authorization, context: prompt.context, sheetShown: prompt.wasSheetShown)
            return try .json(told, outcome: "\(prompt.authorization)")
        }
    }

    /// `updateAutoSignInToken(_:updateContext:)`.
    func update(_ request: AppleRequest) -> AppleAnswer {
        answer(request) { content in
            let storing = try SettingsFault.decode(Storing.self, from: request.body)
            let device = storing.device ?? Self.standardDevice
            guard content.tokens.device(device).platform.storesValues else { return Self.unavailable }
            let key = Self.key(request, storing.environment ?? .production)
            do throws(AutoSignInRejection) {
                try content.tokens[key].update(storing.value, context: storing.context, on: device, at: request.now)
            } catch {
                return .problem(error.rawValue, "the value is unchanged", status: .conflict)
            }
            content.secrets.add(value: storing.value)
            return try Self.token(key, device: device, content, request.now)
        }
    }

    /// `deleteAutoSignInToken()`.
    func delete(_ request: AppleRequest) -> AppleAnswer {
        answer(request) { content in
            let place = request.body.isEmpty ? Where(device: nil, environment: nil) : try SettingsFault.decode(Where.self, from: request.body)
            let device = place.device ?? Self.standardDevice
            let key = Self.key(request, place.environment ?? .production)
            content.tokens[key].delete(on: device, at: request.now)
            return try Self.token(key, device: device, content, request.now)
        }
    }

    private static let standardDevice = "device"
    private static let unavailable = AppleAnswer.problem("unavailable", "the platform cannot store values", status: .conflict)

    private static func key(_ request: AppleRequest, _ store: AppleStore) -> SharedTokens.Key {
        SharedTokens.Key(store: store, account: request.parameter("account"), bundleID: request.parameter("bundleID"))
    }

    private static func token(_ key: SharedTokens.Key, device: String?, _ content: AppleMemory.Content, _ now: Timestamp) throws -> AppleAnswer {
        let (account, reading) = content.tokens.reading(key, on: device ?? standardDevice, at: now)
        let token = Token(
            account: account, value: reading.value, authorization: reading.authorization, authorizationNumber: reading.authorization.number,
            sheetsShown: content.tokens[key].sheetsShown)
        return try .json(token, outcome: reading.value == nil ? "nothing" : "value")
    }

    private func answer(_ request: AppleRequest, _ act: (inout AppleMemory.Content) throws -> AppleAnswer) -> AppleAnswer {
        memory.access { content in
            guard content.directory.app(request.parameter("bundleID")) != nil else {
                return .problem("unknownApp", "no group has this bundle id", status: .notFound)
            }
            do {
                return try act(&content)
            } catch {
                return .problem("badRequest", "\(error)", status: .badRequest)
            }
        }
    }
}

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
            do throws(StoreKitToken.Rejection) {
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

    struct Rejection: Error {
        let reason: String
    }

    /// - Returns: The bundle id of the app that calls.
    static func check(_ text: String?, _ directory: AppleDirectory, now: Timestamp) throws(Rejection) -> String {
        guard let text else { throw Rejection(reason: "there is no bearer") }
        guard let token = CompactToken(text) else { throw Rejection(reason: "the bearer is no JWT") }
        guard token.header["alg"] == .text("ES256"), token.header["typ"] == .text("JWT") else { throw Rejection(reason: "alg or typ is wrong") }
        guard let id = token.header["kid"]?.text, let team = directory.teams.values.first(where: { $0.purchaseKeys[id] != nil }),
            let key = team.purchaseKeys[id]
        else { throw Rejection(reason: "kid names no key") }
        guard key.verifies(token.signature, over: token.signingInput) else { throw Rejection(reason: "the signature does not verify") }
        guard token.claims["iss"] == .text(team.issuer) else { throw Rejection(reason: "iss is another issuer") }
        guard token.claims["aud"] == .text(audience) else { throw Rejection(reason: "aud is wrong") }
        guard let issued = token.claims["iat"]?.number, let expires = token.claims["exp"]?.number else { throw Rejection(reason: "no iat or exp") }
        guard issued <= now.seconds + tolerance else { throw Rejection(reason: "iat is ahead") }
        guard expires - issued <= longestLife else { throw Rejection(reason: "it lives longer than 60 minutes") }
        guard now.seconds < expires else { throw Rejection(reason: "it has expired") }
        guard let bundleID = token.claims["bid"]?.text, let app = directory.app(bundleID), app.group.team == team.id else {
            throw Rejection(reason: "bid is no app of the team")
        }
        return bundleID
    }
}
