import Faults
@testable import GatewayEdge
@testable import GatewayPublicApi
import Synchronization
import Testing

/// Refusals in place of calls that a service would refuse.
@Suite struct BackpressureTests {
    /// A service that accepts that many calls per second; the test sets the time, and the random numbers are evenly spread.
    private final class World: Sendable {
        private let state = Mutex((now: Int64(1_000_000_000), asked: 0, draws: 0))
        let capacity: Int

        init(capacity: Int) { self.capacity = capacity }

        var asked: Int { state.withLock { $0.asked } }
        func now() -> Int64 { state.withLock { $0.now } }
        func wait(_ milliseconds: Int64) { state.withLock { $0.now += milliseconds * 1_000_000 } }
        /// Multiples of the golden ratio: any range of them is spread evenly.
        func draw() -> Double {
            state.withLock {
                $0.draws += 1
                return (Double($0.draws) * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
            }
        }

        func call(_ room: Bool) throws -> Int {
            state.withLock { $0.asked += 1 }
            if !room { throw Fault(.overloaded, "Too many signatures are under way.") }
            return 1
        }
    }

    /// A second of calls, evenly spread.
    /// - Parameter takesUp: True when the service takes up its next call of this number.
    /// - Returns: Calls that were answered, and calls that the service was asked for.
    private func second(
        _ backpressure: Backpressure, _ world: World, calls: Int, requestor: String = "ACME1"
    ) async -> (answered: Int, asked: Int) {
        let before = world.asked
        var answered = 0
        var room = 0.0
        for _ in 0..<calls {
            room = min(4, room + Double(world.capacity) / Double(calls))
            let hasRoom = room >= 1
            let asked = world.asked
            answered += (try? await backpressure.passing(requestor) { try world.call(hasRoom) }) ?? 0
            if hasRoom, world.asked > asked { room -= 1 }
            if calls <= 1000 { world.wait(Int64(1000 / calls)) }
        }
        return (answered, world.asked - before)
    }

    private func backpressure(_ world: World) -> Backpressure { Backpressure(now: { world.now() }, draw: { world.draw() }) }

    @Test func aServiceThatTakesEverythingUpIsAskedForEverything() async {
        let world = World(capacity: 1000)
        let backpressure = backpressure(world)
        for _ in 0..<3 { #expect(await second(backpressure, world, calls: 1000) == (1000, 1000)) }
    }

    @Test func aServiceThatRefusesIsAskedForLittleMoreThanItTakesUp() async {
        let world = World(capacity: 250)
        let backpressure = backpressure(world)
        _ = await second(backpressure, world, calls: 1000)
        let (answered, asked) = await second(backpressure, world, calls: 1000)
        #expect(answered >= 230, "what is refused here takes nothing from what could be served")
        #expect(asked < 375)
    }

    @Test func whenTheLoadIsOverNothingIsRefused() async {
        let world = World(capacity: 250)
        let backpressure = backpressure(world)
        for _ in 0..<3 { _ = await second(backpressure, world, calls: 1000) }
        _ = await second(backpressure, world, calls: 200)
        #expect(await second(backpressure, world, calls: 200) == (200, 200))
    }

    @Test func aServiceThatRefusedEverythingIsFoundAgain() async {
        let world = World(capacity: 0)
        let backpressure = backpressure(world)
        for _ in 0..<3 { #expect(await second(backpressure, world, calls: 500).answered == 0) }
        world.wait(10_000)
        #expect((try? await backpressure.passing("ACME1") { try world.call(true) }) == 1)
    }

    @Test func anotherRequestorIsNotConcerned() async {
        let world = World(capacity: 0)
        let backpressure = backpressure(world)
        _ = await second(backpressure, world, calls: 500)
        let other = World(capacity: 500)
        #expect(await second(backpressure, other, calls: 500, requestor: "BRAVO") == (500, 500))
    }

    @Test func otherFaultsAreNoRefusals() async {
        let world = World(capacity: 0)
        let backpressure = backpressure(world)
        for _ in 0..<200 {
            await #expect(throws: Fault.self) {
                try await backpressure.passing("ACME1") { () async throws -> Int in throw Fault(.authorizationNotFound, "Not Found") }
            }
        }
        #expect((try? await backpressure.passing("ACME1") { try world.call(true) }) == 1)
    }

    @Test func theFaultTellsWhenToComeAgain() async throws {
        let world = World(capacity: 0)
        let backpressure = Backpressure(now: { world.now() }, draw: { 0 })
        _ = try? await backpressure.passing("ACME1") { try world.call(false) }
        let fault = await #expect(throws: Fault.self) { try await backpressure.passing("ACME1") { try world.call(true) } }
        #expect(fault?.code == .overloaded && fault?.retryAfter == .milliseconds(500) && world.asked == 1)
    }
}
