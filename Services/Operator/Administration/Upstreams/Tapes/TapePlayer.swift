internal import Foundation
internal import TextEncodings

/// Answers calls as a tape has it.
///
/// A device that calls goes its own way through the tape, in the part of a taped device. Where the tape has a pseudonym the first value that comes
/// stands for it from then on; another value is another exchange. Codes and tokens that upstream gave out are each device's own.
struct TapePlayer: Sendable {
    private struct Exchange {
        let taped: TapedExchange
        /// The pseudonyms of the call, in order.
        let pseudonyms: [String]
        let device: String?
        /// The login that the call begins leads here.
        let redirect: String?
    }

    /// The way of one device through the tape.
    private struct Run {
        let number: Int
        /// The device whose part it has.
        let device: String?
        /// By pseudonyms.
        var values: [OctetText: String] = [:]
        var pseudonyms: [OctetText: String] = [:]
        /// By how much an exchange that was served is later than on the tape; milliseconds.
        var delays: [Int: Int64] = [:]
    }

    /// A call is not on the tape for this reason.
    struct Rejection: Error, Sendable, Equatable {
        /// Without anything secret.
        let call: String
        let reason: String
    }

    /// Devices that one player knows.
    static let mostDevices = 1000

    private let exchanges: [Exchange]
    private let places: [OctetText: [Int]]
    private var devices: [(pseudonym: String, calls: Int, runs: Int)] = []
    /// The first one is of calls that no device makes.
    private var runs = [Run(number: 0, device: nil)]
    private var runOfValue: [OctetText: Int] = [:]
    private var redirects: [OctetText: String] = [:]
    private var used: Set<Int> = []
    private(set) var served = 0

    var usedExchanges: Int { used.count }
    var allExchanges: Int { exchanges.count }

    init(_ tape: [TapedExchange]) {
        var (made, found): ([Exchange], [OctetText: [Int]]) = ([], [:])
        for (index, taped) in tape.enumerated() {
            let key = taped.request.key
            var redirect: String?
            if case .form(let fields) = taped.request.body { redirect = fields.first { $0.0 == "redirectUrl" }?.1 }
            let device = taped.request.device
            made.append(Exchange(taped: taped, pseudonyms: key.pseudonyms, device: device, redirect: redirect))
            found[OctetText(key.text), default: []].append(index)
            guard let device else { continue }
            if let place = devices.firstIndex(where: { $0.pseudonym == device }) {
                devices[place].calls += 1
            } else {
                devices.append((device, 1, 0))
            }
        }
        (exchanges, places) = (made, found)
    }

    /// - Parameters:
    ///   - origin: The player's own.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `Rejection`.
    mutating func answer(_ call: TapeCall, origin: String, now: Int64) throws(Rejection) -> TapeAnswer {
        guard call.isOfAPI else { return try lead(call) }
        // The scrubber's pseudonyms of one call are the places of its values.
        var scrubber = TapeScrubber()
        let request = scrubber.request(call)
        let key = request.key
        let values = key.pseudonyms.map { scrubber.pseudonyms.values[OctetText($0)] ?? "" }
        guard let run = run(request, values, scrubber.pseudonyms) else {
            throw Rejection(call: key.text, reason: "\(Self.mostDevices) devices have called already; start the replay again")
        }
        guard let places = places[OctetText(key.text)] else { throw Rejection(call: key.text, reason: "the tape has no such call") }
        let fitting = alike(places.filter { fits(exchanges[$0], run, values) }, request)
        guard let last = fitting.last else {
            throw Rejection(call: key.text, reason: "the tape has it for other devices or codes only (\(places.count) times)")
        }
        let next = fitting.first { runs[run].delays[$0] == nil }
        guard let index = next ?? (Self.mayRepeat(request) ? last : nil) else {
            throw Rejection(
                call: key.text, reason: "the tape has it \(fitting.count == 1 ? "once" : "\(fitting.count) times"), and it came once more")
        }
        return serve(index, run, values, origin: origin, now: now)
    }

    /// True for a call that changes nothing upstream: it is answered again. A play, a sign-in or a reset is one more than the tape has.
    private static func mayRepeat(_ request: TapedExchange.Request) -> Bool {
        request.method == "GET" || request.path.hasPrefix("/o/client/") || request.path.contains("/decisions/preauthorize/")
    }

    // MARK: Whose call it is

    /// - Returns: `nil` where there are too many.
    private mutating func run(_ request: TapedExchange.Request, _ values: [String], _ pseudonyms: Pseudonyms) -> Int? {
        guard let device = request.device.flatMap({ pseudonyms.values[OctetText($0)] }) else {
            for value in values { if let run = runOfValue[OctetText(value)] { return run } }
            return 0
        }
        // A device may not take the place of a value that was given out.
        if let run = runOfValue[OctetText("device \(device)")] { return run }
        guard runs.count <= Self.mostDevices else { return nil }
        // The one that fewest have played yet, and of these the one that does most.
        let place = devices.indices.min { (devices[$0].runs, -devices[$0].calls, $0) < (devices[$1].runs, -devices[$1].calls, $1) }
        if let place { devices[place].runs += 1 }
        runs.append(Run(number: runs.count, device: place.map { devices[$0].pseudonym }))
        runOfValue[OctetText("device \(device)")] = runs.count - 1
        return runs.count - 1
    }

    private func fits(_ exchange: Exchange, _ number: Int, _ values: [String]) -> Bool {
        let run = runs[number]
        guard exchange.device == nil || exchange.device == run.device else { return false }
        // Without a device nobody knows what belongs together.
        guard run.number > 0 else { return true }
        return zip(exchange.pseudonyms, values).allSatisfy { pseudonym, value in
            if let bound = run.values[OctetText(pseudonym)] { return bound == value }
            return run.pseudonyms[OctetText(value)] == nil
        }
    }

    /// Lists of providers differ by what a device is: those of the same kind where the tape has some.
    private func alike(_ places: [Int], _ request: TapedExchange.Request) -> [Int] {
        guard request.path.hasSuffix("/configuration") else { return places }
        let same = places.filter { exchanges[$0].taped.request.description == request.description }
        return same.isEmpty ? places : same
    }

    // MARK: The answer

    private mutating func serve(_ index: Int, _ number: Int, _ values: [String], origin: String, now: Int64) -> TapeAnswer {
        let exchange = exchanges[index]
        if number > 0 { for (pseudonym, value) in zip(exchange.pseudonyms, values) { bind(pseudonym, value, number) } }
        let current = now - exchange.taped.at
        let delay = runs[number].delays[index] ?? current
        runs[number].delays[index] = delay
        used.insert(index)
        served += 1
        let answer = exchange.taped.answer
        let headers = answer.headers.map { (name: $0.0, value: $0.0 == "date" ? TapeTimes.moved(date: $0.1, by: current) : $0.1) }
        var body: [UInt8] = []
        switch answer.body {
        case .none, .form: break
        case .text(let text): body = Array(text.utf8)
        case .json(let value):
            if let redirect = exchange.redirect.flatMap({ runs[number].values[OctetText($0)] }) { note(redirect, codesOf: value, number) }
            body = Array(live(value, "", Place(run: number, origin: origin, delay: delay)).text.utf8)
        }
        return TapeAnswer(status: answer.status, headers: headers, body: body)
    }

    private mutating func bind(_ pseudonym: String, _ value: String, _ number: Int) {
        guard runs[number].values[OctetText(pseudonym)] == nil else { return }
        runs[number].values[OctetText(pseudonym)] = value
        runs[number].pseudonyms[OctetText(value)] = pseudonym
    }

    /// The value that stands for a pseudonym.
    private mutating func value(_ pseudonym: String, _ number: Int) -> String {
        if let value = runs[number].values[OctetText(pseudonym)] { return value }
        let value = number == 0 ? pseudonym : "\(pseudonym)r\(number)"
        bind(pseudonym, value, number)
        if let kind = Pseudonyms.kind(pseudonym), [.client, .code].contains(kind) { runOfValue[OctetText(value)] = number }
        return value
    }

    private mutating func note(_ redirect: String, codesOf value: TapeValue, _ number: Int) {
        redirects[OctetText(redirect)] = redirect
        if let code = value["code"]?.string, !Pseudonyms.taken(from: code).pseudonyms.isEmpty {
            redirects[OctetText(live(code, number) { $0 })] = redirect
        }
    }

    private struct Place {
        let run: Int
        let origin: String
        let delay: Int64
    }

    private mutating func live(_ value: TapeValue, _ name: String, _ place: Place) -> TapeValue {
        let isTime = TapeTimes.names.contains(name)
        switch value {
        case .array(let elements):
            var made: [TapeValue] = []
            for element in elements { made.append(live(element, name, place)) }
            return .array(made)
        case .object(let members):
            var made: [TapeValue.Member] = []
            for member in members { made.append(TapeValue.Member(name: member.name, value: live(member.value, member.name, place))) }
            return .object(made)
        case .number(let text): return isTime ? .number(TapeTimes.moved(text, by: place.delay)) : value
        case .string(let text) where isTime: return .string(TapeTimes.moved(text, by: place.delay))
        case .string(let text) where name == "url": return .string(address(text, place))
        case .string(let text): return .string(live(text, place.run) { $0 })
        default: return value
        }
    }

    private mutating func live(_ text: String, _ number: Int, _ encode: (String) -> String) -> String {
        var made: [OctetText: String] = [:]
        for pseudonym in Pseudonyms.taken(from: text).pseudonyms { made[OctetText(pseudonym)] = encode(value(pseudonym, number)) }
        return Pseudonyms.replaced(in: text) { made[OctetText($0)] ?? $0 }
    }

    private mutating func address(_ text: String, _ place: Place) -> String {
        let whole = text.hasPrefix(TapeScrubber.upstream) ? place.origin + text.dropFirst(TapeScrubber.upstream.count) : text
        return live(whole, place.run) { FormEncoding.encode($0) }
    }

    // MARK: Browsers

    /// A browser that was sent upstream: its login ends at once, where the app wanted it to end.
    private func lead(_ call: TapeCall) throws(Rejection) -> TapeAnswer {
        let code = call.path.split(separator: "/").last.map { String($0) } ?? ""
        if call.path.hasPrefix("/api/v2/authenticate/"), let address = redirects[OctetText(code)] { return .redirect(302, address) }
        for part in call.query.split(separator: "&") {
            let value = part.split(separator: "=", maxSplits: 1).last ?? ""
            guard let address = PercentEncoding.decode(value.utf8, plusIsSpace: true), let known = redirects[OctetText(address)] else { continue }
            return .redirect(302, known)
        }
        throw Rejection(call: "\(call.method) of a browser", reason: "no sign-in of this replay leads there")
    }
}
