internal import CommandKit
internal import Dispatch
internal import Foundation
internal import LoadTool
internal import Simulation
internal import Synchronization
internal import TextEncodings

/// One visit to the gateway, call by call.
protocol GatewayScript: AnyObject {
    /// Its steps, as the report names them.
    static var steps: [String] { get }

    func begin(_ visit: Visit) -> Step
    func proceed(_ visit: Visit, _ answer: Answer) -> Step
}

/// One visit under way.
final class Visit {
    /// Unique in the run.
    let number: Int
    /// 0 to below 1, drawn for this visit.
    let draw: Double
    /// The step of the script that comes back next.
    var place = 0
    /// Codes of the call under way that do not count as failures.
    private var tolerates: [String] = []
    var code = ""
    var cookies = ""
    var relayState = ""
    var signed: SignedAnswer?
    /// Consumer of the signed answer, a path at the gateway.
    var consumer = ""
    let script: any GatewayScript
    /// Place of the script's first step in the workload's operations.
    let offset: Int

    init(number: Int, draw: Double, script: any GatewayScript, offset: Int) {
        (self.number, self.draw, self.script, self.offset) = (number, draw, script, offset)
    }

    /// The device of a visit that signs in: a new one each time.
    func newDevice(_ run: String) -> String { "load-\(run)-\(number)" }

    func call(_ step: Int, _ payload: [UInt8], wantsAnswer: Bool = false, tolerates: [String] = []) -> Step {
        self.tolerates = tolerates
        return .call(Call(operation: offset + step, payload: payload, wantsAnswer: wantsAnswer, tolerates: tolerates))
    }

    func hasFailed(_ answer: Answer) -> Bool { answer.failure.map { !tolerates.contains($0) } ?? false }

    /// Takes over what the answer sets.
    func keepCookies(_ answer: Answer) {
        let set = answer.headers.filter { $0.name == "set-cookie" }.map { String($0.value.prefix { $0 != ";" }) }
        cookies = (cookies.isEmpty ? set : [cookies] + set).joined(separator: "; ")
    }
}

/// Visits of one kind or of several, chosen by weight; the first failed call ends a visit.
final class GatewayWorkload: Workload {
    struct Part {
        let script: any GatewayScript
        let weight: Double
    }

    let operations: [String]
    private let scripts: [(script: any GatewayScript, offset: Int, upTo: Double)]
    private var nextNumber: Int
    private let stride: Int

    /// - Parameters:
    ///   - parts: At least one.
    ///   - worker: Visits are numbered so that no two workers have the same.
    init(_ parts: [Part], worker: Int, workers: Int) {
        (nextNumber, stride) = (worker, workers)
        let total = parts.reduce(0) { $0 + $1.weight }
        var (names, sum) = ([String](), 0.0)
        scripts = parts.map { part in
            sum += part.weight / total
            defer { names += type(of: part.script).steps }
            return (part.script, names.count, sum)
        }
        operations = names
    }

    func begin(_ user: inout User) -> Step {
        let point = user.random.unit()
        let chosen = scripts.first { point < $0.upTo } ?? scripts[scripts.count - 1]
        let visit = Visit(number: nextNumber, draw: user.random.unit(), script: chosen.script, offset: chosen.offset)
        nextNumber += stride
        user.notes = visit
        return chosen.script.begin(visit)
    }

    func proceed(_ user: inout User, _ answer: Answer) -> Step {
        guard let visit = user.notes as? Visit, !visit.hasFailed(answer) else { return .done }
        return visit.script.proceed(visit, answer)
    }
}

extension Answer {
    /// A member of the body's JSON object.
    func text(_ name: String) -> String? {
        ((try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any])?[name] as? String
    }
}

/// Writes HTTP/1.1 requests to the gateway, whole, as bytes.
struct GatewayCalls: Sendable {
    /// `host:port`, or a name.
    let host: String
    let requestor: String
    static let form = "Content-Type: application/x-www-form-urlencoded\r\n"

    /// The common part of all requests of one client; made once.
    struct Client: Sendable {
        let accessToken: String
        let head: String

        /// - Parameter hardware: Goes out as `X-Device-Info`.
        init(accessToken: String, host: String, hardware: SimulatedHardware) {
            self.init(accessToken: accessToken, authorization: "Bearer \(accessToken)", host: host, hardware: hardware)
        }

        /// One without an access token.
        init(authorization: String, host: String, hardware: SimulatedHardware) {
            self.init(accessToken: "", authorization: authorization, host: host, hardware: hardware)
        }

        private init(accessToken: String, authorization: String, host: String, hardware: SimulatedHardware) {
            self.init(
                accessToken: accessToken,
                head: "Host: \(host)\r\nUser-Agent: boxoffice-load\r\nAccept: application/json\r\nAuthorization: \(authorization)\r\n"
                    + "X-Device-Info: \(hardware.information)\r\n")
        }

        private init(accessToken: String, head: String) { (self.accessToken, self.head) = (accessToken, head) }

        /// The same from a public address, which the gateway hears of as from a trusted proxy.
        func from(_ address: String) -> Client { Client(accessToken: accessToken, head: head + "X-Forwarded-For: \(address)\r\n") }
    }

    /// A request of an app.
    func get(_ path: String, _ client: Client) -> [UInt8] { Array("GET \(path) HTTP/1.1\r\n\(client.head)\r\n".utf8) }

    func post(_ path: String, _ client: Client, form: String) -> [UInt8] {
        Array("POST \(path) HTTP/1.1\r\n\(client.head)\(Self.form)Content-Length: \(form.utf8.count)\r\n\r\n\(form)".utf8)
    }

    /// A request of a browser.
    func browse(_ path: String, cookies: String = "") -> [UInt8] { Array("GET \(path) HTTP/1.1\r\n\(browser(cookies))\r\n".utf8) }

    func submit(_ path: String, cookies: String, form: String) -> [UInt8] {
        Array("POST \(path) HTTP/1.1\r\n\(browser(cookies))\(Self.form)Content-Length: \(form.utf8.count)\r\n\r\n\(form)".utf8)
    }

    private func browser(_ cookies: String) -> String {
        "Host: \(host)\r\nUser-Agent: Mozilla/5.0 (boxoffice-load)\r\nAccept: text/html\r\n" + (cookies.isEmpty ? "" : "Cookie: \(cookies)\r\n")
    }

    /// The parameters that name a device.
    func device(_ id: String, _ more: [(String, String)] = []) -> String {
        FormEncoding.encode([("requestor", requestor), ("deviceId", id)] + more)
    }
}

/// Requests of apps on REST v2, whole, as bytes.
extension GatewayCalls {
    /// - Parameter rest: The path behind the service provider.
    func get(v2 rest: String, _ client: Client, device: String, status: String? = nil) -> [UInt8] {
        Array("GET \(path(rest)) HTTP/1.1\r\n\(client.head)\(headers(device, status))\r\n".utf8)
    }

    func post(v2 rest: String, _ client: Client, device: String, status: String? = nil, form: [(String, String)]) -> [UInt8] {
        post(rest, client, headers(device, status) + Self.form, FormEncoding.encode(form))
    }

    /// Asks for a decision on one resource.
    func decide(_ kind: String, _ mvpd: String, _ resource: String, _ client: Client, device: String) -> [UInt8] {
        let body = String(decoding: (try? JSONSerialization.data(withJSONObject: ["resources": [resource]])) ?? Data(), as: UTF8.self)
        let headers = headers(device, nil) + "Content-Type: application/json;charset=utf-8\r\n"
        return post("decisions/\(kind)/\(FormEncoding.encode(mvpd))", client, headers, body)
    }

    private func post(_ rest: String, _ client: Client, _ headers: String, _ body: String) -> [UInt8] {
        Array("POST \(path(rest)) HTTP/1.1\r\n\(client.head)\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    private func path(_ rest: String) -> String { V2App.path(requestor, rest) }

    /// - Parameter status: The status of the platform's framework.
    private func headers(_ device: String, _ status: String?) -> String {
        let (name, value) = StreamingApp.deviceIdentifier(device)
        return "\(name): \(value)\r\n" + (status.map { "AP-Partner-Framework-Status: \($0)\r\n" } ?? "")
    }
}

/// A value, such as a signature, that is computed outside the threads that make the calls; these poll until it is there.
final class SignedAnswer: Sendable {
    enum State: Sendable {
        case pending
        case ready(String)
        case failed(String)
    }

    private let result = Mutex(State.pending)
    /// Signatures are made on as many threads as the machine has cores; below the threads that make the calls.
    private static let queue = DispatchQueue(label: "boxoffice.load.signatures", qos: .utility, attributes: .concurrent)

    init(_ work: @escaping @Sendable () throws -> String) {
        Self.queue.async { [self] in
            let state: State
            do { state = .ready(try work()) } catch { state = .failed(PlainReason.of(error)) }
            result.withLock { $0 = state }
        }
    }

    var state: State { result.withLock { $0 } }
}
