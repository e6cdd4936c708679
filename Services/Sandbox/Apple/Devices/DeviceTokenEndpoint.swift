internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Hummingbird

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
        /// How often the app's sheet was shown on this account.
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
            do throws(AutoSignInRefusal) {
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
