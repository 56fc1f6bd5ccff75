"""The error tree. Each error states what happened, why, and the next command.

Errors are imported from here; the modules are the branches. ``*`` marks a retryable error.

LakeGuardError
├── UsageError: invalid call: exit 2, nothing was written
│   ├── commands
│   │     BadName LG-1001, BadAddress LG-1002, NotRegistered LG-1003, UnknownVersion LG-1004,
│   │     UnknownRun LG-1005, SettingsError LG-1006, NoProject LG-1007, UnknownPlane LG-1008,
│   │     AlreadyExists LG-1009, SecretStoreMissing LG-1014, AuditHeadRefused LG-1015,
│   │     BuiltByProgram LG-1201,
│   │     NoWindow LG-1202, SourceNotInspectable LG-1203, AlreadyGoverned LG-1204,
│   │     OtherTable LG-1205, NothingToApprove LG-1206, NotApprovable LG-1207,
│   │     NothingSelected LG-1208, NoDecision LG-1209, NothingApplied LG-1210,
│   │     NotInDraft LG-1220, NothingDrafted LG-1221, NotComparable LG-1222,
│   │     BadUserName LG-1681, BadNamespace LG-1682, UnknownUser LG-1683, UnknownGrant LG-1684,
│   │     UnknownServiceToken LG-1685, ServiceTokenInvalid LG-1686, UnknownOrganisation LG-1687
│   ├── definitions
│   │     InvalidDefinitions LG-2000, NotYaml LG-2001, UnknownKey LG-2002, MissingKey LG-2003,
│   │     WrongValue LG-2004, DuplicateKey LG-2005, DuplicateDefinition LG-2006,
│   │     UnknownReference LG-2007, LayerChanged LG-2008, GoldParent LG-2009, Cycle LG-2010,
│   │     ParentAbove LG-2011, RuleSyntax LG-2012, UnknownRuleType LG-2013, UnknownColumn LG-2014,
│   │     RuleMeaning LG-2015, DuplicateRule LG-2016, PolicySyntax LG-2017, UnknownType LG-2018,
│   │     BadSql LG-2019, BadDefinitionName LG-2020, SecretValue LG-2021, UnknownRowsFile LG-2022,
│   │     UnreadableRows LG-2023, TooLarge LG-2024, RaggedRow LG-2025, BadColumns LG-2026,
│   │     RefusedStatement LG-2027, RefusedValue LG-2028, MissingMapping LG-2029,
│   │     DuplicateJob LG-2030, BadRename LG-2031, ConfusableName LG-2032, NestedTable LG-2033,
│   │     NotLoadable LG-2034, DuplicatedRows LG-2035, ReservedColumn LG-2036, BadPython LG-2037,
│   │     JobCycle LG-2038, RegistryChanged LG-2100, PlanChanged LG-2101
│   ├── moves
│   │     AlreadyPublished LG-1010, ReasonNeeded LG-1011, SecretInReason LG-1012,
│   │     NothingToUndo LG-1013
│   ├── engine
│   │     NoteRefused LG-1101, NotInRun LG-1102, BuiltByRuns LG-1103, NotPublishable LG-1104,
│   │     UnknownFrame LG-1105, NameTaken LG-1106, SharedCatalogue LG-1107,
│   │     PathsForbidden LG-1108, UnsupportedSpark LG-1109, SparkTooOld LG-1110,
│   │     WrongArgument LG-1111, DefinitionNeeded LG-1112
│   ├── scheduling
│   │     UnknownTask LG-1601, NotRetryable LG-1602, NotCancelable LG-1603,
│   │     JobStillDisabled LG-1604, ReportRefused LG-1611, NotReported LG-1612,
│   │     BadListenAddress LG-1613, ListenAddressInUse LG-1614,
│   │     NotHandedOver LG-1615, UnknownJob LG-1621, UnknownGraph LG-1622, LaunchInvalid LG-1623,
│   │     NothingToDeploy LG-1624, InvalidEvent LG-1641, SecretInEvent LG-1642, NoLog LG-1651
│   ├── notifications
│   │     UnknownChannel LG-1401
│   ├── service
│   │     UnknownOperation LG-1701, PageExpired LG-1702, KeyReused LG-1703, RequestRefused LG-1704,
│   │     FolderNeeded LG-1705, ListenerOpen LG-1706, CertificateUnusable LG-1707,
│   │     TracesUnavailable LG-1708, SourceOutsideRoots LG-1709, ServiceUrlInvalid LG-1710
│   ├── records
│   │     UnknownKind LG-1801, RecordRefused LG-1802, KindRefused LG-1803, UnknownCursor LG-1804
│   └── data
│         UnknownCheck LG-1301, WaiverInvalid LG-1302, UnknownWaiver LG-1303,
│         NothingQuarantined LG-1501, DiscardInvalid LG-1502, UnknownRowRange LG-1661,
│         UnknownInvalidation LG-1662, InvalidationOver LG-1663, WithdrawalReasonNeeded LG-1664,
│         NotFullyRebuilt LG-1665
├── Refused: the control plane refused: exit 3; exit 1 if the caller is unknown or may not
│   ├── commands
│   │     NotPermitted LG-3001, MaintenanceRefused LG-3004, NotAdoptable LG-3005
│   ├── moves
│   │     RollbackBlocked LG-3002, NotApproved LG-3003, FilesRemoved LG-3006,
│   │     PromotionRefused LG-3010, VersionDamaged LG-3017
│   ├── engine
│   │     PublishBlocked LG-3101
│   ├── state
│   │     StateDatabaseShared LG-3381
│   ├── scheduling
│   │     TaskCanceled LG-3301, NeverStarted LG-3302, BadToken LG-3311, ReportConflict LG-3312,
│   │     OutputExists LG-3313, LaunchRefused LG-3320, JobDisabled LG-3321, PartDisabled LG-3322,
│   │     NotDeployed LG-3323, ParentFailed LG-3324, InputMissing LG-3325,
│   │     SchemaPending LG-3326, Frozen LG-3327, ParentLate LG-3328, Overlapping LG-3329,
│   │     NotRunnable LG-3330, GraphRolledBack LG-3331, KeyAlreadyUsed LG-3332,
│   │     NotDeployable LG-3333, EventConflict LG-3341
│   ├── service
│   │     NotAuthenticated LG-3401, DefinitionsChanged LG-3402, KeyInUse LG-3403*,
│   │     ServiceBusy LG-3404*, RateLimited LG-3405*
│   ├── records
│   │     RecordConflict LG-3501
│   └── data
│         NotWaivable LG-3007, NotJudged LG-3011, SampleRefused LG-3008,
│         SampleNotMasked LG-3009, ProfileRefused LG-3015, ProfileNotMasked LG-3016,
│         NotReplayable LG-3201, ReadsWholeSource LG-3202
├── MoveError: a move did not happen: exit 1
│   └── moves
│         TableBusy LG-4001*, BaseChanged LG-4002*, Fenced LG-4003, CommitMismatch LG-4004,
│         TableUnreadable LG-4005, StagedFilesChanged LG-4006, ForeignTable LG-4007,
│         DefinitionChanged LG-4008*, ColumnsInFlight LG-4009*
├── EngineError: the data plane failed: exit 1
│   ├── engine
│   │     JavaMissing LG-5001, JarsMissing LG-5002, SourceUnreadable LG-5003, BuildFailed LG-5004,
│   │     StagingFailed LG-5005, WorkerMissing LG-5006, DeliveryFailed LG-5007,
│   │     SecretMissing LG-5008, SourceUnavailable LG-5009*, LoadFailed LG-5010,
│   │     Interrupted LG-5011, SparkNotStarted LG-5012, SparkExited LG-5013, DiskFull LG-5014*,
│   │     BuildProcessEnded LG-5015*, GateProcessEnded LG-5016, NewRowsUnknown LG-5017,
│   │     StoreUnavailable LG-5018*, CredentialsExpired LG-5019*, VersionUnreadable LG-5020,
│   │     NotRebuildable LG-5021, FileDamaged LG-5022, StoreAccessRefused LG-5023,
│   │     PublishFailed LG-5101
│   ├── scheduling
│   │     JobFailed LG-5651, JobRequestedRetry LG-5652*, JobUnusable LG-5653, JobCrashed LG-5654*,
│   │     JobTimedOut LG-5655*, CallRefused LG-5656, CallFailed LG-5657*, WorkerStopped LG-5658*,
│   │     ReportOverdue LG-5659*
│   └── notifications
│         AlertNotSent LG-5201, EventNotSent LG-5202
└── StateError: the state database, ledger or records cannot be used: exit 1
    ├── records
    │     RecordsDamaged LG-6301, RecordsUnavailable LG-6302*
    └── state
          StateMissing LG-6001, StateMismatch LG-6002, StateUnavailable LG-6003*,
          StateRefused LG-6004, SemanticsUnknown LG-6005, StateLoginRefused LG-6006,
          StateLocked LG-6007*, StateFull LG-6008*, StateReadOnly LG-6009, StateDamaged LG-6010,
          StateNotMigrated LG-6011, OrganisationsNotSeparated LG-6012, AuditKeyUnusable LG-6013,
          StateCommitUnknown LG-6014*, ServiceNotTrusted LG-6015,
          LakeOwned LG-6101, StateOlder LG-6102, StateForked LG-6103, LedgerUnreadable LG-6104,
          LedgerMissing LG-6105, RebuildRefused LG-6106, LedgerOlder LG-6107,
          LedgerOrphaned LG-6108, IssuerUnavailable LG-6201*
"""

# ruff: isort: skip_file

from __future__ import annotations

from lakeguard_sdk.errors.tree import (
    EngineError as EngineError,
    LakeGuardError as LakeGuardError,
    MoveError as MoveError,
    Refused as Refused,
    StateError as StateError,
    UsageError as UsageError,
    error_classes as error_classes,
)
from lakeguard_sdk.errors.commands import (
    AlreadyGoverned as AlreadyGoverned,
    AlreadyExists as AlreadyExists,
    AuditHeadRefused as AuditHeadRefused,
    BadAddress as BadAddress,
    BadName as BadName,
    BadNamespace as BadNamespace,
    BadUserName as BadUserName,
    BuiltByProgram as BuiltByProgram,
    MaintenanceRefused as MaintenanceRefused,
    NoDecision as NoDecision,
    NoProject as NoProject,
    NoWindow as NoWindow,
    NotAdoptable as NotAdoptable,
    NotApprovable as NotApprovable,
    NotComparable as NotComparable,
    NotInDraft as NotInDraft,
    NotPermitted as NotPermitted,
    NotRegistered as NotRegistered,
    NothingDrafted as NothingDrafted,
    NothingApplied as NothingApplied,
    NothingSelected as NothingSelected,
    NothingToApprove as NothingToApprove,
    ServiceTokenInvalid as ServiceTokenInvalid,
    SecretStoreMissing as SecretStoreMissing,
    SourceNotInspectable as SourceNotInspectable,
    OtherTable as OtherTable,
    SettingsError as SettingsError,
    UnknownGrant as UnknownGrant,
    UnknownOrganisation as UnknownOrganisation,
    UnknownPlane as UnknownPlane,
    UnknownServiceToken as UnknownServiceToken,
    UnknownUser as UnknownUser,
    UnknownRun as UnknownRun,
    UnknownVersion as UnknownVersion,
)
from lakeguard_sdk.errors.definitions import (
    BadColumns as BadColumns,
    BadPython as BadPython,
    BadRename as BadRename,
    BadSql as BadSql,
    BadDefinitionName as BadDefinitionName,
    Cycle as Cycle,
    DefinitionError as DefinitionError,
    DuplicatedRows as DuplicatedRows,
    DuplicateDefinition as DuplicateDefinition,
    DuplicateKey as DuplicateKey,
    DuplicateRule as DuplicateRule,
    GoldParent as GoldParent,
    InvalidDefinitions as InvalidDefinitions,
    InvalidRows as InvalidRows,
    JobCycle as JobCycle,
    LayerChanged as LayerChanged,
    NotLoadable as NotLoadable,
    ConfusableName as ConfusableName,
    MissingKey as MissingKey,
    MissingMapping as MissingMapping,
    NestedTable as NestedTable,
    NotYaml as NotYaml,
    ParentAbove as ParentAbove,
    Place as Place,
    PlanChanged as PlanChanged,
    PolicySyntax as PolicySyntax,
    RaggedRow as RaggedRow,
    RefusedStatement as RefusedStatement,
    RefusedValue as RefusedValue,
    RegistryChanged as RegistryChanged,
    RowsError as RowsError,
    RuleMeaning as RuleMeaning,
    RuleSyntax as RuleSyntax,
    DuplicateJob as DuplicateJob,
    SecretValue as SecretValue,
    ReservedColumn as ReservedColumn,
    TooLarge as TooLarge,
    UnknownColumn as UnknownColumn,
    UnknownKey as UnknownKey,
    UnknownReference as UnknownReference,
    UnknownRowsFile as UnknownRowsFile,
    UnknownRuleType as UnknownRuleType,
    UnknownType as UnknownType,
    UnreadableRows as UnreadableRows,
    WrongValue as WrongValue,
)
from lakeguard_sdk.errors.moves import (
    AlreadyPublished as AlreadyPublished,
    BaseChanged as BaseChanged,
    ColumnsInFlight as ColumnsInFlight,
    CommitMismatch as CommitMismatch,
    DefinitionChanged as DefinitionChanged,
    Fenced as Fenced,
    FilesRemoved as FilesRemoved,
    ForeignTable as ForeignTable,
    NotApproved as NotApproved,
    NothingToUndo as NothingToUndo,
    PromotionRefused as PromotionRefused,
    ReasonNeeded as ReasonNeeded,
    RollbackBlocked as RollbackBlocked,
    SecretInReason as SecretInReason,
    StagedFilesChanged as StagedFilesChanged,
    TableBusy as TableBusy,
    TableUnreadable as TableUnreadable,
    VersionDamaged as VersionDamaged,
)
from lakeguard_sdk.errors.engine import (
    BuildFailed as BuildFailed,
    BuildProcessEnded as BuildProcessEnded,
    BuiltByRuns as BuiltByRuns,
    CredentialsExpired as CredentialsExpired,
    DefinitionNeeded as DefinitionNeeded,
    DeliveryFailed as DeliveryFailed,
    DiskFull as DiskFull,
    FileDamaged as FileDamaged,
    GateProcessEnded as GateProcessEnded,
    Interrupted as Interrupted,
    JarsMissing as JarsMissing,
    JavaMissing as JavaMissing,
    LoadFailed as LoadFailed,
    NameTaken as NameTaken,
    NotInRun as NotInRun,
    NotPublishable as NotPublishable,
    NotRebuildable as NotRebuildable,
    NewRowsUnknown as NewRowsUnknown,
    NoteRefused as NoteRefused,
    PathsForbidden as PathsForbidden,
    PublishBlocked as PublishBlocked,
    PublishFailed as PublishFailed,
    SecretMissing as SecretMissing,
    SharedCatalogue as SharedCatalogue,
    SourceUnavailable as SourceUnavailable,
    SourceUnreadable as SourceUnreadable,
    SparkExited as SparkExited,
    SparkNotStarted as SparkNotStarted,
    SparkTooOld as SparkTooOld,
    StagingFailed as StagingFailed,
    StoreAccessRefused as StoreAccessRefused,
    StoreUnavailable as StoreUnavailable,
    UnknownFrame as UnknownFrame,
    UnsupportedSpark as UnsupportedSpark,
    VersionUnreadable as VersionUnreadable,
    WorkerMissing as WorkerMissing,
    WrongArgument as WrongArgument,
)
from lakeguard_sdk.errors.state import (
    AuditKeyUnusable as AuditKeyUnusable,
    IssuerUnavailable as IssuerUnavailable,
    LakeOwned as LakeOwned,
    LedgerMissing as LedgerMissing,
    LedgerOlder as LedgerOlder,
    LedgerOrphaned as LedgerOrphaned,
    LedgerUnreadable as LedgerUnreadable,
    StateDatabaseShared as StateDatabaseShared,
    OrganisationsNotSeparated as OrganisationsNotSeparated,
    RebuildRefused as RebuildRefused,
    SemanticsUnknown as SemanticsUnknown,
    ServiceNotTrusted as ServiceNotTrusted,
    StateCommitUnknown as StateCommitUnknown,
    StateDamaged as StateDamaged,
    StateForked as StateForked,
    StateFull as StateFull,
    StateLocked as StateLocked,
    StateMismatch as StateMismatch,
    StateMissing as StateMissing,
    StateNotMigrated as StateNotMigrated,
    StateOlder as StateOlder,
    StateReadOnly as StateReadOnly,
    StateRefused as StateRefused,
    StateLoginRefused as StateLoginRefused,
    StateUnavailable as StateUnavailable,
)
from lakeguard_sdk.errors.scheduling import (
    BadListenAddress as BadListenAddress,
    BadToken as BadToken,
    CallFailed as CallFailed,
    CallRefused as CallRefused,
    EventConflict as EventConflict,
    Frozen as Frozen,
    GraphRolledBack as GraphRolledBack,
    InputMissing as InputMissing,
    JobRequestedRetry as JobRequestedRetry,
    JobCrashed as JobCrashed,
    JobFailed as JobFailed,
    JobDisabled as JobDisabled,
    JobStillDisabled as JobStillDisabled,
    JobTimedOut as JobTimedOut,
    JobUnusable as JobUnusable,
    KeyAlreadyUsed as KeyAlreadyUsed,
    LaunchInvalid as LaunchInvalid,
    LaunchRefused as LaunchRefused,
    InvalidEvent as InvalidEvent,
    NeverStarted as NeverStarted,
    NoLog as NoLog,
    NotCancelable as NotCancelable,
    NotDeployable as NotDeployable,
    NotDeployed as NotDeployed,
    NotHandedOver as NotHandedOver,
    NotReported as NotReported,
    NotRetryable as NotRetryable,
    NotRunnable as NotRunnable,
    NothingToDeploy as NothingToDeploy,
    OutputExists as OutputExists,
    Overlapping as Overlapping,
    ParentFailed as ParentFailed,
    ParentLate as ParentLate,
    PartDisabled as PartDisabled,
    ListenAddressInUse as ListenAddressInUse,
    ReportOverdue as ReportOverdue,
    ReportRefused as ReportRefused,
    ReportConflict as ReportConflict,
    SchemaPending as SchemaPending,
    SecretInEvent as SecretInEvent,
    TaskCanceled as TaskCanceled,
    UnknownGraph as UnknownGraph,
    UnknownJob as UnknownJob,
    UnknownTask as UnknownTask,
    WorkerStopped as WorkerStopped,
)
from lakeguard_sdk.errors.notifications import (
    AlertNotSent as AlertNotSent,
    EventNotSent as EventNotSent,
    UnknownChannel as UnknownChannel,
)
from lakeguard_sdk.errors.data import (
    InvalidationOver as InvalidationOver,
    NotFullyRebuilt as NotFullyRebuilt,
    UnknownRowRange as UnknownRowRange,
    NotReplayable as NotReplayable,
    NotJudged as NotJudged,
    NotWaivable as NotWaivable,
    NothingQuarantined as NothingQuarantined,
    ProfileNotMasked as ProfileNotMasked,
    ProfileRefused as ProfileRefused,
    ReadsWholeSource as ReadsWholeSource,
    SampleNotMasked as SampleNotMasked,
    SampleRefused as SampleRefused,
    UnknownCheck as UnknownCheck,
    UnknownInvalidation as UnknownInvalidation,
    UnknownWaiver as UnknownWaiver,
    WaiverInvalid as WaiverInvalid,
    WithdrawalReasonNeeded as WithdrawalReasonNeeded,
    DiscardInvalid as DiscardInvalid,
)
from lakeguard_sdk.errors.records import (
    KindRefused as KindRefused,
    RecordConflict as RecordConflict,
    RecordRefused as RecordRefused,
    RecordsDamaged as RecordsDamaged,
    RecordsUnavailable as RecordsUnavailable,
    UnknownCursor as UnknownCursor,
    UnknownKind as UnknownKind,
)
from lakeguard_sdk.errors.service import (
    CertificateUnusable as CertificateUnusable,
    DefinitionsChanged as DefinitionsChanged,
    KeyInUse as KeyInUse,
    KeyReused as KeyReused,
    ListenerOpen as ListenerOpen,
    NotAuthenticated as NotAuthenticated,
    PageExpired as PageExpired,
    RateLimited as RateLimited,
    RequestRefused as RequestRefused,
    FolderNeeded as FolderNeeded,
    ServiceBusy as ServiceBusy,
    ServiceUrlInvalid as ServiceUrlInvalid,
    SourceOutsideRoots as SourceOutsideRoots,
    TracesUnavailable as TracesUnavailable,
    UnknownOperation as UnknownOperation,
)
