import Dispatch
import Foundation
import SamlProfile
import Synchronization

/// Takes genuine responses and changes one thing at a time: no mutant that is accepted may mean anything else (mvpd §2.3).
///
///     saml-mutations [number of mutants] [seed]
///     saml-mutations show NUMBER [seed]       prints one mutant again
@main
enum SamlMutations {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let shown = arguments.first == "show" ? arguments.dropFirst().first.flatMap { Int($0) } : nil
        let count = shown == nil ? arguments.first.flatMap { Int($0) } ?? 120_000 : 0
        let seed = arguments.last.flatMap { arguments.count > (shown == nil ? 1 : 2) ? UInt64($0) : nil } ?? 20_310_304
        let messages = try Genuine.all()
        if let shown {
            let (name, mutation, encoded) = mutant(shown, seed, messages.map { ($0, MarkupMap($0.text)) })
            print("\(name), \(mutation)\n\(Data(base64Encoded: encoded).map { String(decoding: $0, as: UTF8.self) } ?? encoded)")
            return
        }
        try checkComparison()
        let clock = ContinuousClock()
        let start = clock.now
        let tally = run(count, seed, messages)
        let elapsed = clock.now - start
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        print("saml-mutations: seed \(seed), \(messages.count) messages, \(Mutation.allCases.count) kinds of change")
        print(tally.lines(seconds: seconds).joined(separator: "\n"))
        guard tally.changed.isEmpty, tally.accepted.values.reduce(0, +) > 0, tally.rejected.count > 10 else { exit(1) }
    }

    /// A difference must be noticed, or the run proves nothing.
    private static func checkComparison() throws {
        let (genuine, other) = try Genuine.counterfeit()
        guard other != genuine.assertion else { throw Genuine.Failure("a changed NameID is not noticed") }
    }

    private static func run(_ count: Int, _ seed: UInt64, _ messages: [Genuine]) -> Tally {
        let whole = Mutex(Tally())
        let lanes = max(1, ProcessInfo.processInfo.activeProcessorCount)
        DispatchQueue.concurrentPerform(iterations: lanes) { lane in
            let mapped = messages.map { ($0, MarkupMap($0.text)) }
            var tally = Tally()
            for number in stride(from: lane, to: count, by: lanes) { probe(number, seed, mapped, &tally) }
            whole.withLock { [tally] in $0.add(tally) }
        }
        return whole.withLock { $0 }
    }

    private static func probe(_ number: Int, _ seed: UInt64, _ messages: [(Genuine, MarkupMap)], _ tally: inout Tally) {
        let genuine = messages[number % messages.count].0
        let (name, mutation, encoded) = mutant(number, seed, messages)
        let (accepted, reason) = Genuine.verdict(encoded, genuine.expected)
        tally.mutants += 1
        if let accepted, accepted == genuine.assertion {
            tally.accepted[mutation.rawValue, default: 0] += 1
        } else if accepted != nil {
            tally.changed.append("mutant \(number) of '\(name)' by \(mutation): saml-mutations show \(number) \(seed)")
        } else {
            tally.rejected[reason, default: 0] += 1
        }
    }

    /// The same number and seed always make the same change; keys, and so the signatures, are new in each run.
    private static func mutant(
        _ number: Int, _ seed: UInt64, _ messages: [(Genuine, MarkupMap)]
    ) -> (name: String, mutation: Mutation, encoded: String) {
        let (genuine, map) = messages[number % messages.count]
        let mutation = Mutation.allCases[number / messages.count % Mutation.allCases.count]
        var mutator = Mutator(text: genuine.text, map: map, random: SplitMix(state: seed &+ UInt64(number) &* 0xD134_2543_DE82_EF95))
        return (genuine.name, mutation, mutator.mutant(mutation))
    }
}
