import CommandKit
import Simulation
import Foundation
import TextEncodings

/// Devices that are signed in and permitted, each with an access token and an address of its own.
struct Fleet {
    let devices: [Device]

    struct Device: Sendable {
        let requestor: String
        let id: String
        let accessToken: String
        /// The resources that it may watch.
        let resources: [String]
        /// On its Apple Account, where it opted in.
        var value: String?
        /// Through which it was signed in.
        var code = ""
    }

    /// Where values are of; it need not be asked, as nobody stores one.
    static let bundleID = "example.acme.tv"

    /// Signs devices in, several at a time.
    /// - Parameter domain: The requestor's registered domain.
    static func signIn(
        _ count: Int, at requestor: String, domain: String, resources: [String], cluster: LocalCluster, series: Int, mvpd: String = "NorthCable",
        optsIn: Bool = false
    ) async throws -> Fleet {
        let client = HTTPExchange.makeClient()
        let (statement, gateway, people) = (try cluster.statement(), cluster.gateway, cluster.people)
        let outcome: Result<[Device], any Error>
        do {
            outcome = .success(
                try await concurrently(count, atOnce: 16) { number in
                    var exchange = HTTPExchange(client: client)
                    exchange.headers = [("X-Forwarded-For", "151.\(series).\(number / 250).\(1 + number % 250)")]
                    return try await signIn(
                        StreamingApp(exchange: exchange, gateway: gateway, requestor: requestor, deviceID: UUID().uuidString),
                        person: SimulatedPerson(exchange: exchange), name: people[number % people.count], statement: statement, domain: domain,
                        resources: resources, mvpd: mvpd, gateway, optsIn: optsIn)
                })
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        return Fleet(devices: try outcome.get())
    }

    private static func signIn(
        _ app: StreamingApp, person: SimulatedPerson, name: String, statement: String, domain: String, resources: [String], mvpd: String,
        _ gateway: String, optsIn: Bool
    ) async throws -> Device {
        var (app, person) = (app, person)
        try await app.register(statement: statement)
        let code = try await app.requestCode().code
        let end = "\(gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", app.requestor), ("mso_id", mvpd), ("domain_name", domain), ("noflash", "true"),
            ("no_iframe", "true"), ("redirect_url", "\(end)?code=\(code)&requestor=\(app.requestor)"),
        ])
        _ = try await person.signIn(at: "\(gateway)/api/v1/authenticate?\(query)", name: name, password: name, until: end)
        for resource in resources { try await app.authorize(resource) }
        var device = Device(requestor: app.requestor, id: app.deviceID, accessToken: app.accessToken, resources: resources)
        device.code = code
        guard optsIn else { return device }
        let token = try await app.issueToken(bundleID: bundleID)
        try await app.confirm(token)
        device.value = token.value
        return device
    }

    /// Devices of the same apps that have a registration code and no session.
    func waiting(_ count: Int, cluster: LocalCluster) async throws -> Fleet {
        let client = HTTPExchange.makeClient()
        let (gateway, apps) = (cluster.gateway, devices)
        let outcome: Result<[Device], any Error>
        do {
            outcome = .success(
                try await Self.concurrently(count, atOnce: 16) { number in
                    let app = apps[number % apps.count]
                    var device = Device(requestor: app.requestor, id: UUID().uuidString, accessToken: app.accessToken, resources: [])
                    device.code = try await device.requestCode(HTTPExchange(client: client), gateway: gateway, number: number)
                    return device
                })
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        return Fleet(devices: try outcome.get())
    }

    private static func concurrently<Value: Sendable>(
        _ count: Int, atOnce: Int, _ work: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            var values: [Value] = []
            for number in 0..<min(atOnce, count) { group.addTask { try await work(number) } }
            while let value = try await group.next() {
                values.append(value)
                let next = values.count + atOnce - 1
                if next < count { group.addTask { try await work(next) } }
            }
            return values
        }
    }
}

extension Fleet.Device {
    /// - Parameter number: The number of the device; another number has another address.
    fileprivate func requestCode(_ exchange: HTTPExchange, gateway: String, number: Int) async throws -> String {
        struct Answer: Decodable { let code: String }
        let headers = [
            ("Accept", "application/json"), ("User-Agent", "boxoffice-device"), ("Authorization", "Bearer \(accessToken)"),
            ("X-Device-Info", SimulatedHardware.television.information), ("Content-Type", "application/x-www-form-urlencoded"),
            ("X-Forwarded-For", "152.1.\(number / 250).\(1 + number % 250)"),
        ]
        let answer = try await exchange.send(
            "POST", "\(gateway)/reggie/v1/\(requestor)/regcode", headers: headers, body: FormEncoding.encode([("deviceId", id)]))
        guard answer.status == 201 else { throw BenchmarkFailure("a waiting device got no registration code: \(answer.status)") }
        return try JSONDecoder().decode(Answer.self, from: Data(answer.text.utf8)).code
    }
}
