import Clocks
import Cryptography
import Doubles
import Foundation
import ManualClocks
import OutboundHttp
import Synchronization

@testable import AutoSignInService

/// Stands in for Apple's StoreKit: values by environment, and what goes wrong when a test says so. Bearers are checked as Apple does (apple §1.3).
final class StoreKitDouble: OutboundTransport {
    enum Behaviour: Sendable {
        case answer(Int, retryAfter: Int? = nil)
        case applyThenTimeOut
        case timeOut
        case unreachable
    }

    struct Call: Hashable, Sendable {
        let path: String
        let status: Int
        let at: Timestamp
    }

    struct Bearer: Sendable {
        let header: [String: String]
        let issuer: String
        let audience: String
        let bundleID: String
        let lifetime: Int
        let signatureLength: Int
        let isSigned: Bool
        let text: String
    }

    private struct State {
        var values: [String: Set<String>] = [:]
        var script: [Behaviour] = []
        var standing: Behaviour?
        var calls: [Call] = []
        var bearers: [Bearer] = []
    }

    static let production = "http://apple.test/storekit"
    static let sandbox = "http://apple.test/storekit-sandbox"

    private let clock: ManualClock
    private let key: P256PublicKey
    private let state = Mutex(State())

    init(clock: ManualClock, key: P256PublicKey) {
        self.clock = clock
        self.key = key
    }

    /// A device stores a value on its Apple Account.
    func store(_ value: String, in base: String = StoreKitDouble.production) { state.withLock { _ = $0.values[base, default: []].insert(value) } }

    func values(in base: String = StoreKitDouble.production) -> Set<String> { state.withLock { $0.values[base] ?? [] } }

    /// For the next calls, one after the other.
    func then(_ behaviours: Behaviour...) { state.withLock { $0.script += behaviours } }

    /// For every call until it is set to `nil`.
    func always(_ behaviour: Behaviour?) { state.withLock { $0.standing = behaviour } }

    var calls: [Call] { state.withLock { $0.calls } }
    var bearers: [Bearer] { state.withLock { $0.bearers } }

    func count(_ name: String, status: Int? = nil) -> Int {
        calls.count { $0.path.hasSuffix("/account/v1/autoSignIn/\(name)") && (status == nil || $0.status == status) }
    }

    func send(_ request: OutboundRequest, by _: OutboundRoute, timeLeft _: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        let now = clock.now()
        let result = state.withLock { state -> Result<OutboundAnswer, OutboundFailure> in
            let bearer = Self.bearer(request, key)
            state.bearers.append(bearer)
            let behaviour = state.script.isEmpty ? state.standing : state.script.removeFirst()
            func called(_ status: Int) { state.calls.append(Call(path: request.url, status: status, at: now)) }
            switch behaviour {
            case .answer(let status, let retryAfter):
                called(status)
                let headers = retryAfter.map { [(name: "Retry-After", value: "\($0)")] } ?? []
                return .success(OutboundAnswer(status: status, headers: headers))
            case .applyThenTimeOut:
                _ = Self.apply(request, &state)
                called(0)
                return .failure(OutboundFailure(.responseTimeout))
            case .timeOut:
                called(0)
                return .failure(OutboundFailure(.responseTimeout))
            case .unreachable: return .failure(OutboundFailure(.notSent))
            case nil:
                let status = bearer.isSigned ? Self.apply(request, &state) : 401
                called(status)
                return .success(OutboundAnswer(status: status))
            }
        }
        return try result.get()
    }

    private static func apply(_ request: OutboundRequest, _ state: inout State) -> Int {
        let base = request.url.hasPrefix(sandbox + "/") ? sandbox : production
        let body = (try? JSONDecoder().decode([String: String].self, from: Data(request.body ?? []))) ?? [:]
        let before = body["existingAutoSignInTokenValue"] ?? body["autoSignInTokenValue"] ?? ""
        guard state.values[base, default: []].remove(before) != nil else { return 404 }
        if let after = body["newAutoSignInTokenValue"] { state.values[base, default: []].insert(after) }
        return 204
    }

    private static func bearer(_ request: OutboundRequest, _ key: P256PublicKey) -> Bearer {
        struct Claims: Decodable {
            let iss: String
            let iat: Int
            let exp: Int
            let aud: String
            let bid: String
        }
        let text = request.headers.first { $0.name == "authorization" }.map { String($0.value.dropFirst("Bearer ".count)) } ?? ""
        let parts = text.split(separator: ".").map(String.init)
        guard parts.count == 3, let header = Base64.url.decode(parts[0]), let payload = Base64.url.decode(parts[1]),
            let signature = Base64.url.decode(parts[2]), let claims = try? JSONDecoder().decode(Claims.self, from: Data(payload)),
            let names = try? JSONDecoder().decode([String: String].self, from: Data(header))
        else { return Bearer(header: [:], issuer: "", audience: "", bundleID: "", lifetime: 0, signatureLength: 0, isSigned: false, text: text) }
        let isSigned = key.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        return Bearer(
            header: names, issuer: claims.iss, audience: claims.aud, bundleID: claims.bid, lifetime: claims.exp - claims.iat,
            signatureLength: signature.count, isSigned: isSigned, text: text)
    }
}
