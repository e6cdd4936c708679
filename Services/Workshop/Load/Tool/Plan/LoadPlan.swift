/// The amount of load over time.
public struct LoadPlan: Sendable, Equatable {
    /// A stretch of time with a level that is constant or changes evenly.
    public struct Stage: Sendable, Equatable {
        public var length: Nanoseconds
        /// Iterations per second (open loop) or users (closed loop), above 0, at its start and its end.
        public var from: Double
        public var to: Double

        public init(length: Nanoseconds, from: Double, to: Double) {
            self.length = length
            self.from = from
            self.to = to
        }

        public init(length: Nanoseconds, level: Double) { self.init(length: length, from: level, to: level) }
    }

    /// Not measured; at the level at which the first stage begins.
    public var warmUp: Nanoseconds
    public var stages: [Stage]
    /// Each stage is a step of a ramp, with results of its own.
    public var isRamp: Bool

    public init(warmUp: Nanoseconds = 0, stages: [Stage], isRamp: Bool = false) {
        self.warmUp = warmUp
        self.stages = stages
        self.isRamp = isRamp
    }

    /// - Parameters:
    ///   - steps: At least 2.
    ///   - stepLength: The length of each step.
    public static func ramp(from: Double, to: Double, steps: Int, stepLength: Nanoseconds, warmUp: Nanoseconds) -> LoadPlan {
        let stages = (0..<steps).map { step in
            Stage(length: stepLength, level: from + (to - from) * Double(step) / Double(steps - 1))
        }
        return LoadPlan(warmUp: warmUp, stages: stages, isRamp: true)
    }

    /// Without warm-up.
    public var length: Nanoseconds { stages.reduce(0) { $0 + $1.length } }

    /// The warm-up as a stage, then the others.
    var allStages: [Stage] {
        guard warmUp > 0, let first = stages.first else { return stages }
        return [Stage(length: warmUp, level: first.from)] + stages
    }

    /// The stage that a moment is in.
    /// - Parameter offset: From the start of the measured part.
    func stage(at offset: Nanoseconds) -> Int? {
        guard offset >= 0 else { return nil }
        var end: Nanoseconds = 0
        for (index, stage) in stages.enumerated() {
            end += stage.length
            if offset < end { return index }
        }
        return nil
    }

    /// The level at a moment.
    /// - Parameter offset: From the start of the warm-up.
    func level(at offset: Nanoseconds) -> Double {
        var start: Nanoseconds = 0
        for stage in allStages {
            if offset < start + stage.length {
                return stage.from + (stage.to - stage.from) * Double(offset - start) / Double(stage.length)
            }
            start += stage.length
        }
        return stages.last?.to ?? 0
    }
}
