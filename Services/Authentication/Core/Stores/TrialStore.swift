internal import Clocks
internal import Faults

/// Trials of TempPasses; they never end by themselves (rest-v1 §5).
protocol TrialStore: Sendable {
    /// Stores the session of a preview in place of the one before, shortened to the trial that its holder has. The registration code that it
    /// came through is marked used, and a sign-in under way through it ends.
    func start(_ preview: FreePreview, now: Timestamp) async throws(Fault) -> FreePreviewResult

    /// Counts a play: begins the trial, takes one of its resources and gives the play's session, if it has one, the trial's end, all of it or nothing. From then on
    /// the trial knows the holder's device and user, unless another trial does.
    func spend(_ play: TrialPlay, now: Timestamp) async throws(Fault) -> TrialPlay.Outcome

    /// The trial of that id; `nil` once it was reset.
    func trial(_ id: TrialID) async throws(Fault) -> Trial?

    /// The trial of which the holder's device or user is known; `nil`: its clock was not started.
    func trial(of holder: TrialHolder) async throws(Fault) -> Trial?

    /// Forgets trials with everything that they know.
    /// - Returns: How many there were.
    func reset(_ scope: TrialScope, requestor: RequestorID, mvpd: MvpdID) async throws(Fault) -> Int
}
