internal import Foundation
internal import LoadTool

/// What one visit to the gateway does, call by call.
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
    /// Which step of the script comes back next.
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
